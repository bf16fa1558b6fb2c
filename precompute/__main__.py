"""Entry point of `python -m precompute` and `mixscope`."""

from precompute.stopping import StopLine, end_quietly, stoppable


def main() -> None:
    """Run the command line; end the process at once, since Python would free all objects first."""
    try:
        stoppable(_command)
    except SystemExit as ended:
        end_quietly(int(ended.code or 0))


def _command(stop_line: StopLine) -> None:
    from precompute.command_line import run_command  # takes long enough to be stopped

    run_command(stop_line)


if __name__ == "__main__":
    main()
