"""Entry point of `python -m precompute` and `mixscope`."""

from precompute.stopping import end_quietly, stoppable


def main() -> None:
    """Run the command line; end the process at once, since Python would free all objects first."""
    try:
        stoppable(_command)
    except SystemExit as ended:
        end_quietly(int(ended.code or 0))


def _command() -> None:
    from precompute.command_line import run_command  # takes long enough to be stopped

    run_command()


if __name__ == "__main__":
    main()
