"""What types of mention, ways to pick an antecedent and heads are called."""

from typing import Any

import pandas as pd

from pages.ui.head.choice import head_name
from pages.ui.words.interval import row_with_interval
from pages.ui.words.numbers import percent
from pages.ui.words.say import say


def type_name(mention_type: str) -> str:
    return say(f"coreference.type_{mention_type}")


def method_name(method: str) -> str:
    return say(f"coreference.method_{method}")


def head_names(frame: pd.DataFrame, suffix: str = "") -> list[str]:
    """The heads of all rows, from the columns layer and head with a suffix."""
    places = zip(frame[f"layer{suffix}"], frame[f"head{suffix}"], strict=True)
    return [head_name(int(layer), int(head)) for layer, head in places]


def accuracy_of(row: Any) -> str:
    """The accuracy of a row with its interval, if it has one."""
    return row_with_interval(row, "accuracy", percent)
