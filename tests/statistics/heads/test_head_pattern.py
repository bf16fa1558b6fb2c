"""Heads whose habits are known, and laws of habits."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.habits import QUANTITIES
from analysis.habits import TOKEN_TYPES as HABITS_OF_TYPES
from analysis.measures.heads.head_pattern import head_pattern
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, OTHER, SEP
from tests.precompute.corpora.tiny import unhurried

NATS = ("entropy", "entropy_cls", "uniform")


def habits(attention, types, *, is_causal=False) -> list[dict[str, float]]:
    """Every head of one text without padding; types are places in `TOKEN_TYPES`."""
    attention = torch.as_tensor(attention, dtype=torch.float64)
    types = torch.as_tensor(types)[None]
    n = attention.shape[-1]
    is_pair = torch.ones(n, n, dtype=torch.bool)
    pattern = head_pattern(
        attention[None],
        (is_pair.tril() if is_causal else is_pair)[None],
        is_cls=types == CLS,
        is_sep=types == SEP,
        is_comma_period=types == COMMA_PERIOD,
        is_first=(types == FIRST) | (types == BOS),
    )
    return [dict(zip(QUANTITIES, head, strict=True)) for head in pattern[0].tolist()]


def test_a_text_of_one_token_has_no_neighbours():
    (head,) = habits(torch.ones(1, 1, 1), [3])
    absent = [name for name, value in head.items() if math.isnan(value)]
    assert absent == [
        "previous", "next", "cls", "sep", "comma_period", "sep_to_sep", "other_to_sep",
        "entropy_cls", "first",
    ]  # fmt: skip
    assert (head["self"], head["entropy"], head["uniform"]) == (1, pytest.approx(0), 0)


def test_a_causal_head_has_no_next_token_and_fewer_keys():
    n = 5
    rows = np.tri(n) / np.arange(1, n + 1)[:, None]
    (head,) = habits(rows[None], [3, 3, 3, 3, SEP], is_causal=True)
    assert math.isnan(head["next"])
    assert math.isnan(head["other_to_sep"])  # whoever stands before it cannot see it
    assert head["sep_to_sep"] == pytest.approx(1 / n)
    assert head["entropy"] == pytest.approx(sum(math.log(m) for m in range(1, n + 1)) / n)
    assert head["entropy"] == pytest.approx(head["uniform"])


@pytest.mark.parametrize("opening", [FIRST, BOS])
def test_a_head_that_rests_on_the_first_token_says_so(opening):
    rows = [[1, 0, 0], [0.75, 0.25, 0], [0.5, 0.25, 0.25]]
    (head,) = habits(np.array([rows]), [opening, OTHER, COMMA_PERIOD], is_causal=True)
    assert head["first"] == pytest.approx((1 + 0.75 + 0.5) / 3)
    assert head["comma_period"] == pytest.approx(0.25 / 3)
    assert math.isnan(head["cls"])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 2**31), st.booleans())
@unhurried()
def test_habits_stay_within_their_bounds_and_agree_with_each_other(types, seed, is_causal):
    n = len(types)
    scores = torch.from_numpy(np.random.default_rng(seed).normal(0, 4, (2, n, n)))
    if is_causal:
        scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)
    for head in habits(torch.softmax(scores, dim=-1), types, is_causal=is_causal):
        there = {name: value for name, value in head.items() if not math.isnan(value)}
        shares = {name: value for name, value in there.items() if name not in NATS}
        assert all(-1e-12 <= value <= 1 + 1e-12 for value in shares.values())
        assert -1e-12 <= head["entropy"] <= head["uniform"] + 1e-9
        n_sep = types.count(SEP)
        parts = n_sep * there.get("sep_to_sep", 0) + (n - n_sep) * there.get("other_to_sep", 0)
        assert parts / n == pytest.approx(there.get("sep", 0), abs=1e-12)
        assert sum(there.get(name, 0) for name in HABITS_OF_TYPES) <= 1 + 1e-9
