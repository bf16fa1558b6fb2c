"""Where `python -m precompute` and `mixscope` begin."""

from precompute.stopping import stoppable


def main() -> None:
    """Carry out the command that was typed."""
    stoppable(_command)


def _command() -> None:
    from precompute.command_line import run_command  # takes long enough to be stopped

    run_command()


if __name__ == "__main__":
    main()
