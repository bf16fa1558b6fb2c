"""Habits of heads against their slow twin, heads whose habits are known, and laws."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis import head_slices
from analysis.habits import HABITS, QUANTITIES
from analysis.habits import TOKEN_TYPES as HABITS_OF_TYPES
from analysis.measures.heads.head_pattern import head_pattern
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.statistics.heads.single_heads import (
    HEAD_PATTERN,
    HEAD_PATTERN_DIFFERENCE,
    SEQUENCE_HEAD_PATTERN,
)
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, OTHER, SEP, TOKEN_TYPES
from tests.outermost.heads import habits_of
from tests.precompute.corpora.tiny import unhurried
from tests.reference.transformed_vectors import of_trace
from tests.statistics.fits import made, store_of
from tests.tracing import rows_of_table

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


@pytest.mark.parametrize("at_once", [head_slices.MOST_WEIGHTS, 1])
def test_rows_of_a_padded_batch_are_those_of_each_text(
    tiny, sequences, traced_alone, at_once, monkeypatch
):
    monkeypatch.setattr(head_slices, "MOST_WEIGHTS", at_once)  # all heads, or one after the other
    rows = rows_of_table(SEQUENCE_HEAD_PATTERN, tiny, sequences).to_pandas()
    found = rows.set_index(["weighing", "seq", "layer", "head"])
    is_causal = tiny.layers[0].is_causal
    for sequence, trace in zip(sequences, traced_alone, strict=True):
        types = [TOKEN_TYPES[token_type] for token_type in sequence.token_types]
        for weighing, maps in of_trace(trace).items():
            for (layer, head), attention in maps.items():
                row = found.loc[weighing, sequence.index, layer, head]
                assert row["n_tokens"] == len(sequence)
                expected = habits_of(np.array(attention), types, is_causal)
                for name, value in expected.items():
                    right = math.nan if value is None else value
                    assert row[name] == pytest.approx(right, rel=1e-4, abs=1e-5, nan_ok=True), name
    assert len(rows) == 2 * sum(len(maps["weight"]) for maps in map(of_trace, traced_alone))


@pytest.fixture(scope="module")
def store():
    """Two heads in two texts by both weighings; the second text has no [CLS] and no neighbours."""
    columns = ["weighing", "seq", "head", "cls", "next", "entropy"]
    rows = [
        (WEIGHT, 0, 1, 0.5, 0.2, 1.0),
        (WEIGHT, 0, 2, 0.1, 0.4, 2.0),
        (WEIGHT, 1, 1, None, None, 3.0),
        (WEIGHT, 1, 2, None, None, 0.0),
        (NORM, 0, 1, 0.25, 0.1, 1.5),
        (NORM, 0, 2, 0.15, 0.4, 2.0),
        (NORM, 1, 1, None, None, 1.0),
        (NORM, 1, 2, None, None, 1.0),
    ]
    frame = pd.DataFrame(rows, columns=columns).assign(layer=2, n_tokens=4)
    absent = dict.fromkeys(set(QUANTITIES) - set(columns), np.nan)
    frame = pd.concat([frame, pd.DataFrame(absent, index=frame.index)], axis=1)
    texts = pd.DataFrame({"seq": [0, 1], "text": ["one", "two"]})
    of_weights = frame[frame["weighing"] == WEIGHT].drop(columns="weighing")
    tables = {"sequence_head_pattern_weighing": frame, "sequence_head_pattern": of_weights}
    with store_of(**tables, sequence=texts) as opened:
        opened.register("means", made(HEAD_PATTERN, opened))
        opened.execute("create table head_pattern_weighing as from means")
        yield opened


def cells(rows: pd.DataFrame, *columns: str) -> dict:
    """Return columns by weighing (if any), head (0: all heads) and quantity."""
    key = [name for name in ("weighing", "head", "quantity") if name in rows]
    named = rows.fillna({"head": 0}).set_index(key)[list(columns)]
    return dict(zip(named.index, map(tuple, named.to_numpy().tolist()), strict=True))


def test_means_count_a_type_that_a_text_lacks_as_0_and_a_neighbour_not_at_all(store):
    found = cells(store.sql("from head_pattern_weighing").df(), "mean", "n_sequences")
    expected = {
        (WEIGHT, 1, "cls"): (0.25, 1),
        (WEIGHT, 2, "cls"): (0.05, 1),
        (WEIGHT, 0, "cls"): (0.15, 1),
        (WEIGHT, 1, "next"): (0.2, 1),
        (WEIGHT, 2, "next"): (0.4, 1),
        (WEIGHT, 0, "next"): (0.3, 1),
        (WEIGHT, 1, "entropy"): (2.0, 2),
        (WEIGHT, 2, "entropy"): (1.0, 2),
        (WEIGHT, 0, "entropy"): (1.5, 2),
        (NORM, 1, "cls"): (0.125, 1),
        (NORM, 2, "cls"): (0.075, 1),
        (NORM, 0, "cls"): (0.1, 1),
        (NORM, 1, "next"): (0.1, 1),
        (NORM, 2, "next"): (0.4, 1),
        (NORM, 0, "next"): (0.25, 1),
        (NORM, 1, "entropy"): (1.25, 2),
        (NORM, 2, "entropy"): (1.5, 2),
        (NORM, 0, "entropy"): (1.375, 2),
    }
    assert found.keys() == expected.keys()
    for cell, numbers in expected.items():
        assert found[cell] == pytest.approx(numbers), cell


def test_differences_are_norms_less_weights_of_the_same_texts(store):
    rows = made(HEAD_PATTERN_DIFFERENCE, store)
    assert set(rows["quantity"]) <= set(HABITS)
    found = cells(rows, "difference", "weight", "norm", "n_sequences")
    assert found[1, "cls"] == pytest.approx((-0.125, 0.25, 0.125, 1))
    assert found[2, "next"] == pytest.approx((0.0, 0.4, 0.4, 1))
    assert found[0, "entropy"] == pytest.approx((-0.125, 1.5, 1.375, 2))
    assert len(found) == 9
