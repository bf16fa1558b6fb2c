"""Overrides of choices for an off-screen run."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar

from pages.ui.holding import holding

_MADE: ContextVar[Mapping[str, str] | None] = ContextVar("choices made otherwise", default=None)


class DrawingEnds(BaseException):
    """Ends the drawing of a section early.

    The section is empty, an overridden option does not exist, or the wanted figure is done. As it
    ends a drawing like `st.stop` ends a page, it is no `Exception` either.
    """


def made_otherwise(choices: Mapping[str, str]) -> AbstractContextManager[None]:
    """Override these choices while the block runs; all others stay as they are.

    Args:
        choices: names of options, by the keys of the choices.
    """
    return holding(_MADE, choices)


def otherwise() -> Mapping[str, str] | None:
    """Overrides of choices for an off-screen run; None if the reader's own choices hold."""
    return _MADE.get()
