"""Messages of refusals."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(kind: type[Exception], ask: Callable[..., Any], *given: Any, **named: Any) -> str:
    """Return the message of the error with which a call is refused; other kinds of errors fail."""
    with pytest.raises(kind) as caught:
        ask(*given, **named)
    return str(caught.value)
