"""Main behaviours of heads, against the rules applied one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.heads.head_behaviour import BEHAVIOURS, Thresholds, head_behaviour
from analysis.published.heads import THRESHOLDS
from tests.reference.heads import head_behaviour as twin

QUANTITIES = ("first", "next", "previous", "entropy", "cls", "sep", "comma_period")
NOTHING = dict.fromkeys(QUANTITIES, 0.0)
shares = st.sampled_from([0.0, 0.3, 0.5, 0.55, 0.6, 0.7, 1.0, math.nan])
heads = st.fixed_dictionaries(
    dict.fromkeys(QUANTITIES, shares) | {"entropy": st.sampled_from([0.0, 3.8, 3.9, math.nan])}
)


def named(*of: dict[str, float], thresholds: Thresholds | None = None) -> list[str]:
    quantities = {name: np.array([head[name] for head in of]) for name in QUANTITIES}
    return head_behaviour(quantities, thresholds or Thresholds(**THRESHOLDS)).tolist()


@given(st.lists(heads, min_size=1, max_size=5), st.sampled_from([0.3, 0.5, 0.6]))
def test_heads_are_named_as_the_twin_names_them(of, share):
    thresholds = Thresholds(neighbour=share, entropy=3.8, token_type=0.6)
    assert named(*of, thresholds=thresholds) == [
        twin.behaviour(head, share, 3.8, 0.6) for head in of
    ]


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
