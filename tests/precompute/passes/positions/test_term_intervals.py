"""Intervals where scores have terms of offsets: whole sequences are redrawn, and all is summed."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.positions.offset_term import SUMS
from precompute.corpora.sequence import Text
from precompute.jobs.shards import counted_from_1
from precompute.passes.batch import Batch
from precompute.passes.positions import offset_term
from tests.intervals import assert_ordered
from tests.precompute.passes.positions.fits import CONTEXT, fitted
from tests.reference.bootstrap import interval
from tests.tiny import tiny_model, tiny_sequences

N, HEADS = 12, 3
OFFSETS = (-9, -3, -1, 0, 2, 40)
PARTS = ("position", "query", "key", "content")
WORDS = ("the", "cat", "sat", "dog", "ran", "mat")
of_families = pytest.mark.parametrize("kind", ["t5", "deberta-v2"])


@cache
def shards(kind: str, n: int = N) -> pd.DataFrame:
    """The rows of texts of a tiny model, each a random choice of words."""
    draw = np.random.default_rng(0)
    entries = tuple(
        Text(" ".join(draw.choice(WORDS, size=3 + seq % 7)) + ".", f"line {seq}")
        for seq in range(n)
    )
    texts = tiny_sequences(kind, entries)
    rows = offset_term.totals(Batch(texts, tiny_model(kind).trace(texts)))
    return counted_from_1(rows).to_pandas()


def _fitted(rows: pd.DataFrame, block: Callable[[int], int] = int) -> tuple[Any, Any]:
    return fitted("offset_term", rows, OFFSETS, block)


def _of_sequences(of_head: pd.DataFrame) -> list[dict[str, Any]]:
    """The sums of one head, sequence after sequence."""
    return [
        {name: rows[name].to_numpy() for name in SUMS} | {"pairs": rows["n_pairs"].iloc[0]}
        for _, rows in of_head.groupby("seq")
    ]


def _together(sequences: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: sum(sums[name] for sums in sequences) for name in sequences[0]}


def _place(of_head: pd.DataFrame, offset: int) -> int:
    """Index of the only bucket that has the offset."""
    buckets = of_head[of_head["seq"] == 0]
    ends = zip(buckets["first_offset"], buckets["last_offset"], strict=True)
    [place] = [place for place, (first, last) in enumerate(ends) if first <= offset <= last]
    return place


def _kernel(sums: dict[str, Any], place: int) -> float:
    return sum(float(sums[name][place]) / sums["pairs"] for name in ("query", "key", "bias"))


def _shares(sums: dict[str, Any]) -> list[float]:
    """Shares of position, query, key and content in the variance of scores."""
    query, key, bias = (
        sum(d * term / sums["pairs"] for d, term in zip(sums["deviation"], sums[name], strict=True))
        for name in ("query", "key", "bias")
    )
    position = query + key + bias
    of_query, of_key = sum(sums["query_part"]) - query, sum(sums["key_part"]) - key
    score = sum(sums["score"])
    rest = score - position - of_query - of_key
    return [float(part / score) for part in (position, of_query, of_key, rest)]


@of_families
def test_ends_are_percentiles_of_what_redrawn_sequences_make(kind):
    rows = shards(kind)
    kernels, shares = _fitted(rows)
    weights = CONTEXT.redraws(np.arange(N)).weights.astype(int)
    draws = [list(range(N)), *(np.repeat(np.arange(N), row).tolist() for row in weights)]
    of_heads = []
    for head in range(1, HEADS + 1):
        of_head = rows[(rows["layer"] == 1) & (rows["head"] == head)]
        sequences = _of_sequences(of_head)
        of_all, *drawn = (_together([sequences[seq] for seq in draw]) for draw in draws)
        for row in kernels[(kernels["layer"] == 1) & (kernels["head"] == head)].itertuples():
            place = _place(of_head, row.offset)
            assert row.kernel == pytest.approx(_kernel(of_all, place), rel=1e-9)
            ends = interval([_kernel(sums, place) for sums in drawn])
            assert (row.low, row.high) == pytest.approx(ends, rel=1e-9)
        of_heads.append([_shares(sums) for sums in (of_all, *drawn)])
    slow = [*of_heads, np.mean(of_heads, axis=0).tolist()]  # NULL, the mean over heads, is last
    for row, expected in zip(shares[shares["layer"] == 1].to_dict("records"), slow, strict=True):
        for place, part in enumerate(PARTS):
            value, *drawn = (parts[place] for parts in expected)
            assert row[part] == pytest.approx(value, rel=1e-9, abs=1e-12)
            ends = (row[f"{part}_low"], row[f"{part}_high"])
            assert ends == pytest.approx(interval(drawn), rel=1e-9, abs=1e-12)


@of_families
def test_every_interval_holds_its_number_and_that_of_a_bias_has_no_width(kind):
    kernels, shares = _fitted(shards(kind))
    assert (kernels["low"] <= kernels["high"]).all()
    assert_ordered(kernels["low"], kernels["kernel"], kernels["high"])
    for part in PARTS:
        assert_ordered(shares[f"{part}_low"], shares[part], shares[f"{part}_high"])
    width = kernels["high"] - kernels["low"]
    of_shares = shares["position_high"] - shares["position_low"]
    assert (of_shares > 1e-6).all()
    assert (width < 1e-14).all() if kind == "t5" else (width > 1e-6).all()


@of_families
def test_few_texts_have_no_interval_and_blocks_count_as_texts(kind):
    for n, block in ((9, int), (18, lambda seq: seq // 2)):
        for frame in _fitted(shards(kind, n), block):
            ends = [name for name in frame if name.endswith(("low", "high"))]
            assert frame[ends].isna().all(axis=None)
            assert frame.drop(columns=[*ends, "head"]).notna().all(axis=None)


@of_families
def test_blocks_change_no_number_but_the_interval(kind):
    rows = shards(kind, 24)
    alone, together = _fitted(rows), _fitted(rows, lambda seq: seq // 2)
    for one, other in zip(alone, together, strict=True):
        ends = [name for name in one if name.endswith(("low", "high"))]
        pd.testing.assert_frame_equal(one.drop(columns=ends), other.drop(columns=ends), rtol=1e-12)
    ends = ["position_low", "position_high"]
    assert (alone[1][ends] != together[1][ends]).all(axis=None)
