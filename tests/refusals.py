"""What a reader or an operator is told when something is refused."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(kind: type[Exception], ask: Callable[..., Any], *given: Any, **named: Any) -> str:
    """The message with which the call is refused; an error of no other kind will do."""
    with pytest.raises(kind) as caught:
        ask(*given, **named)
    return str(caught.value)
