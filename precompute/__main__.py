"""Entry point of `python -m precompute` and `mixscope`."""

from precompute.stopping import stoppable


def main() -> None:
    """Run the command line."""
    stoppable(_command)


def _command() -> None:
    from precompute.command_line import run_command  # takes long enough to be stopped

    run_command()


if __name__ == "__main__":
    main()
