"""Process that runs models for the readers of a dashboard.

    python -m precompute.live.process

Loading a model in the server would stop all pages for seconds, and keep the memory for good. The
process is asked on its standard input for results of functions of `Rerun`, and answers on its
standard output. It ends with the server, or after a while without questions.
"""

import os
import signal
import traceback
from contextlib import suppress
from typing import Any

from analysis.errors import UserError
from analysis.messages import Messages
from precompute.live.one_sequence import Rerun, rerun

IDLE = 600.0  # seconds


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the server as well
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    answer_questions(Messages(questions, answers))
    os._exit(0)  # its thread still waits for questions


def answer_questions(messages: Messages) -> None:
    """Answer until the server is gone, or asks nothing for a while."""
    loaded: dict[str, Rerun] = {}
    with suppress(EOFError):
        while messages.poll(IDLE):
            messages.send(_answer(loaded, *messages.receive()))


def _answer(
    loaded: dict[str, Rerun], model: dict[str, Any], function: str, given: tuple, named: dict
) -> tuple:
    """Return `"found"` and the function's result, or the kind of an error and its text."""
    key = repr(model)
    try:
        if key not in loaded:
            loaded.clear()  # the model of the last question, before another takes memory
            loaded[key] = rerun(**model)
        return "found", getattr(loaded[key], function)(*given, **named)
    except UserError as error:
        return type(error).__name__, str(error)
    except Exception:
        return "failed", traceback.format_exc()


if __name__ == "__main__":
    main()
