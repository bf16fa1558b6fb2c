"""Choices as they would be if some of them were made otherwise, for a drawing that nobody sees."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar

from pages.ui.holding import holding

_MADE: ContextVar[Mapping[str, str] | None] = ContextVar("choices made otherwise", default=None)


class DrawingEnds(BaseException):
    """Nothing more of a section is drawn: there is nothing, what was chosen otherwise is not there,
    or the one figure that was looked for is drawn.

    It ends a drawing as `st.stop` ends a page, so it is no `Exception` either.
    """


def made_otherwise(choices: Mapping[str, str]) -> AbstractContextManager[None]:
    """Have these choices made while the block runs, and all others as they are.

    Args:
        choices: names of options, by the keys of the choices.
    """
    return holding(_MADE, choices)


def otherwise() -> Mapping[str, str] | None:
    """What is chosen otherwise; None where the reader's own choices hold."""
    return _MADE.get()
