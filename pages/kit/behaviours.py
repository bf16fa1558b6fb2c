"""Behaviours of heads: names, colours and shapes, and the thresholds that the reader sets."""

from collections.abc import Mapping

import pandas as pd

from analysis.published.heads import THRESHOLDS
from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.heads.single_heads import HEAD_PATTERN
from pages.charts.colours import BEHAVIOUR_COLOURS
from pages.kit.section import rows_of
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.say import say

RULES = {
    "first": ("first", "token_type"),
    "next": ("next", "neighbour"),
    "previous": ("previous", "neighbour"),
    "broad": ("entropy", "entropy"),
    "cls": ("cls", "token_type"),
    "sep": ("sep", "token_type"),
    "comma_period": ("comma_period", "token_type"),
}
"""The deciding quantity of each behaviour and the threshold it must exceed; where several apply,
the last one names the head, as in the code of clark-2019. `first`, the first token of a causal
model, is ours."""
OTHER = "other"
BEHAVIOURS = (*RULES, OTHER)
_QUANTITIES = dict.fromkeys(quantity for quantity, _ in RULES.values())
_OF_HEADS = ", ".join(f"max({{by}}) filter (quantity = '{of}') as \"{of}\"" for of in _QUANTITIES)
_CASES = " ".join(
    f"when \"{of}\" > ${threshold} then '{name}'"
    for name, (of, threshold) in reversed(RULES.items())
)
_BEHAVIOURS = f"""
    select *, case {_CASES} else '{OTHER}' end as behaviour
    from (
        select layer, head, {_OF_HEADS} from head_pattern_weighing
        where weighing = $weighing and head is not null group by all)
    order by layer, head"""
_SHAPES = {
    "first": "triangle-up",
    "next": "triangle-right",
    "previous": "triangle-left",
    "broad": "diamond",
    "cls": "square",
    "sep": "cross",
    "comma_period": "triangle-down",
    "other": "circle",
}


def behaviour_name(behaviour: str) -> str:
    return say(f"head_map.behaviour.{behaviour}")


def looks() -> dict[str, dict[str, str]]:
    """Colours and shapes of the behaviours by display name, in the order of the rules.

    Shapes are for readers who distinguish few hues.
    """
    return {
        "colours": {behaviour_name(name): BEHAVIOUR_COLOURS[name] for name in BEHAVIOURS},
        "shapes": {behaviour_name(name): _SHAPES[name] for name in BEHAVIOURS},
    }


def has_habits(store: Store) -> bool:
    """Return True if the file holds the habits of heads."""
    return store.holds(HEAD_PATTERN)


def behaviours_of_heads(
    inquiry: Inquiry,
    thresholds: Mapping[str, float] = THRESHOLDS,
    *,
    weighing: str = WEIGHT,
    by: str = "mean",
) -> pd.DataFrame:
    """Every head with its main behaviour; empty if the file has no habits.

    Args:
        thresholds: of attention to a neighbour, entropy in nats, and attention to a type of token.
        by: number compared with the thresholds: mean, or an end of its interval, low or high.

    Returns:
        layer, head, the quantities of `RULES`, behaviour, name.
    """
    chosen = {**thresholds, "weighing": weighing}
    frame = rows_of(_BEHAVIOURS.format(by=by), inquiry, chosen)
    return frame.assign(name=frame["behaviour"].map(behaviour_name))
