"""Process that runs models for the readers of a dashboard.

    python -m precompute.live.process

Loading a model in the server would stop all of its pages for seconds, and keep the memory for good.
The process reads questions from its standard input, and answers each on its standard output with
the result of a function of `Rerun`, or with an error. It ends with the server, or after a while
without questions, which frees its memory.
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


class _Models:
    """The model of the last question, one at a time."""

    def __init__(self) -> None:
        self._name: Any = None
        self._rerun: Rerun | None = None

    def answer(self, model: dict[str, Any], function: str, given: tuple, named: dict) -> tuple:
        """Return `"found"` and the function's result, or the kind of an error and its text."""
        try:
            return "found", getattr(self._of(model), function)(*given, **named)
        except UserError as error:
            return type(error).__name__, str(error)
        except Exception:
            return "failed", traceback.format_exc()

    def _of(self, model: dict[str, Any]) -> Rerun:
        if self._rerun is None or self._name != model:
            self._rerun = None  # two models never take memory at once
            self._rerun, self._name = rerun(**model), model
        return self._rerun


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the server as well
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    answer_questions(Messages(questions, answers))
    os._exit(0)  # its thread still waits for questions


def answer_questions(messages: Messages) -> None:
    """Answer until the server is gone, or asks nothing for a while."""
    models = _Models()
    with suppress(EOFError):
        while messages.poll(IDLE):
            messages.send(models.answer(*messages.receive()))


if __name__ == "__main__":
    main()
