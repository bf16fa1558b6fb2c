"""Main behaviours of heads, against the rules applied one by one."""

import math

import numpy as np
import pytest

from analysis.published.heads import THRESHOLDS
from analysis.statistics.heads.head_behaviour import BEHAVIOURS, Thresholds, head_behaviour

QUANTITIES = ("first", "next", "previous", "entropy", "cls", "sep", "comma_period")
NOTHING = dict.fromkeys(QUANTITIES, 0.0)


def named(*of: dict[str, float], thresholds: Thresholds | None = None) -> list[str]:
    quantities = {name: np.array([head[name] for head in of]) for name in QUANTITIES}
    return head_behaviour(quantities, thresholds or Thresholds(**THRESHOLDS)).tolist()


@pytest.mark.parametrize(
    ("quantity", "value", "name"),
    [
        ("first", 0.61, "first"),
        ("next", 0.51, "next"),
        ("previous", 0.51, "previous"),
        ("entropy", 3.81, "broad"),
        ("cls", 0.61, "cls"),
        ("sep", 0.61, "sep"),
        ("comma_period", 0.61, "comma_period"),
        ("next", 0.5, "other"),
        ("entropy", 3.8, "other"),
        ("first", 0.6, "other"),
        ("sep", 0.6, "other"),
        ("cls", math.nan, "other"),
    ],
)
def test_a_head_is_named_by_what_exceeds_the_papers_threshold(quantity, value, name):
    assert named(NOTHING | {quantity: value}) == [name]


def test_of_all_that_hold_the_last_rule_names_a_head():
    everything: dict[str, float] = dict.fromkeys(QUANTITIES, 5.0)
    for last, quantity in reversed(list(zip(BEHAVIOURS, QUANTITIES, strict=False))):
        assert named(everything) == [last]
        everything[quantity] = 0.0
    assert named(everything) == ["other"]
