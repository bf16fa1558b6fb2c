"""Display names of mention types and of methods that pick an antecedent."""

from typing import Any

from pages.ui.words.interval import row_with_interval
from pages.ui.words.numbers import percent
from pages.ui.words.say import say


def type_name(mention_type: str) -> str:
    return say(f"coreference.type_{mention_type}")


def method_name(method: str) -> str:
    return say(f"coreference.method_{method}")


def accuracy_of(row: Any) -> str:
    """Format the accuracy of a row with its interval, if it has one."""
    return row_with_interval(row, "accuracy", percent)
