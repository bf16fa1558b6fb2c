"""Choices as they would be if some of them were made otherwise, for a drawing that nobody sees."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_MADE: ContextVar[Mapping[str, str] | None] = ContextVar("choices made otherwise", default=None)


class NothingThere(BaseException):
    """What was chosen otherwise is not there to be shown.

    It ends a drawing as `st.stop` ends a page, so it is no `Exception` either.
    """


@contextmanager
def made_otherwise(choices: Mapping[str, str]) -> Iterator[None]:
    """Have these choices made while the block runs, and all others as they are.

    Args:
        choices: names of options, by the keys of the choices.
    """
    token = _MADE.set(choices)
    try:
        yield
    finally:
        _MADE.reset(token)


def otherwise() -> Mapping[str, str] | None:
    """What is chosen otherwise; None where the reader's own choices hold."""
    return _MADE.get()
