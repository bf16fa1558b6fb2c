"""Choices as they would be if some of them were made otherwise, for a drawing that nobody sees."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar

from pages.ui.holding import holding

_MADE: ContextVar[Mapping[str, str] | None] = ContextVar("choices made otherwise", default=None)


class NothingThere(BaseException):
    """There is nothing more to be shown in a section, or not what was chosen otherwise.

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
