"""Entry point of `python -m precompute` and `mixscope`."""

from precompute.stopping import StopLine, stoppable


def main() -> None:
    """Run the command line."""
    stoppable(_command)


def _command(stop_line: StopLine) -> None:
    from precompute.command_line import run_command  # takes long enough to be stopped

    run_command(stop_line)


if __name__ == "__main__":
    main()
