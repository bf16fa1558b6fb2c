"""Intervals of kernels and shares: whole sequences are redrawn, and all that they sum to anew."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.positions.rotary_plane import COMPLEX, REAL
from tests.intervals import assert_ordered
from tests.precompute.passes.positions.fits import CONTEXT, fitted
from tests.reference.bootstrap import interval
from tests.reference.positions import position_kernel as reference_kernel

PARTS = ("position", "query", "key", "content")
FREQUENCIES = (0.0, 0.9, 0.05)  # of plane 0 none: it is not turned
OFFSETS = (-3, -1, 0)


def drawn_sums(n_sequences: int, n_heads: int, *, spread: float = 1.0) -> pd.DataFrame:
    """Rows of shards of one layer: pairs of each sequence have queries and keys of their own."""
    draw = np.random.default_rng(0)
    places = [range(n_sequences), [1], range(1, n_heads + 1), range(len(FREQUENCIES))]
    rows = pd.MultiIndex.from_product(places, names=["seq", "layer", "head", "plane"])
    frame = rows.to_frame(index=False)
    frame["frequency"] = frame["plane"].map(dict(enumerate(FREQUENCIES)))
    frame["n_pairs"] = 20 + 5 * (frame["seq"] % 4)
    for name in (f"{quantity}_{part}" for quantity in COMPLEX for part in ("real", "imaginary")):
        means = draw.normal(size=n_heads)[frame["head"] - 1]
        means = means + spread * draw.normal(size=len(frame))
        frame[name] = np.where(frame["plane"] > 0, means * frame["n_pairs"], 0.0)
    for name in REAL:
        frame[name] = draw.uniform(20, 30, size=len(frame)) * frame["n_pairs"]
    return frame


def _fitted(sums: pd.DataFrame, block: Callable[[int], int] = int) -> tuple[Any, Any]:
    return fitted("rotary_plane", sums, OFFSETS, block)


def _of_sequences(of_head: pd.DataFrame) -> list[dict[str, Any]]:
    """The sums of one head, sequence after sequence."""
    sequences = []
    for _, rows in of_head.groupby("seq"):
        turned = rows[rows["plane"] > 0]
        sums: dict[str, Any] = {
            name: (turned[f"{name}_real"] + 1j * turned[f"{name}_imaginary"]).to_numpy()
            for name in COMPLEX
        }
        sequences.append(sums | {"whole": rows["score"].sum(), "pairs": rows["n_pairs"].iloc[0]})
    return sequences


def _together(sequences: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: sum(sums[name] for sums in sequences) for name in sequences[0]}


def _kernel(sums: dict[str, Any], offset: int) -> float:
    means = sums["query"] / sums["pairs"] * (sums["key"] / sums["pairs"]).conj()
    return reference_kernel.position_kernel(means.tolist(), FREQUENCIES[1:], offset)


def _shares(sums: dict[str, Any]) -> list[float]:
    """Shares of position, query, key and content."""
    query, key = sums["query"] / sums["pairs"], (sums["key"] / sums["pairs"]).conj()
    position = float((query * key * sums["turn"]).real.sum())
    of_query = float((key * sums["query_turn"]).real.sum()) - position
    of_key = float((query * sums["key_turn"]).real.sum()) - position
    rest = sums["whole"] - position - of_query - of_key
    return [part / sums["whole"] for part in (position, of_query, of_key, rest)]


def test_ends_are_percentiles_of_what_redrawn_sequences_make():
    n = 12
    sums = drawn_sums(n, 2)
    kernels, shares = _fitted(sums)
    draws = CONTEXT.redraws(np.arange(n)).weights.astype(int)
    of_heads = []
    for head in (1, 2):
        sequences = _of_sequences(sums[sums["head"] == head])
        drawn = [
            _together([sequences[seq] for seq in np.repeat(np.arange(n), row)]) for row in draws
        ]
        for row in kernels[kernels["head"] == head].itertuples():
            assert row.kernel == pytest.approx(_kernel(_together(sequences), row.offset), rel=1e-9)
            ends = interval([_kernel(redrawn, row.offset) for redrawn in drawn])
            assert (row.low, row.high) == pytest.approx(ends, rel=1e-9)
        of_heads.append([_shares(_together(sequences)), *map(_shares, drawn)])
    slow = [*of_heads, np.mean(of_heads, axis=0).tolist()]  # NULL, the mean over heads, is last
    for row, expected in zip(shares.to_dict("records"), slow, strict=True):
        for place, part in enumerate(PARTS):
            value, *drawn = (parts[place] for parts in expected)
            assert row[part] == pytest.approx(value, rel=1e-9)
            ends = (row[f"{part}_low"], row[f"{part}_high"])
            assert ends == pytest.approx(interval(drawn), rel=1e-9)


def test_an_interval_holds_the_kernel_of_all_texts_as_often_as_it_says():
    """Heads stand for repetitions: of each another 40 sequences are seen of the same many."""
    n_heads, planes = 120, len(FREQUENCIES) - 1
    sums = drawn_sums(40, n_heads, spread=1.0)
    kernels, _ = _fitted(sums)
    mean = drawn_sums(40, n_heads, spread=0.0)
    means = mean[(mean["seq"] == 0) & (mean["plane"] > 0)]
    for offset, of_offset in kernels.groupby("offset"):
        expected = [
            reference_kernel.position_kernel(list(of_head), FREQUENCIES[1:], int(str(offset)))
            for of_head in _means(means).reshape(n_heads, planes)
        ]
        held = ((of_offset["low"] <= expected) & (expected <= of_offset["high"])).mean()
        assert 0.88 <= held <= 0.98
    assert_ordered(kernels["low"], kernels["kernel"], kernels["high"])


def _means(rows: pd.DataFrame) -> np.ndarray:
    query, key = (
        rows[f"{side}_real"] + 1j * rows[f"{side}_imaginary"] for side in ("query", "key")
    )
    return (query * np.conj(key) / rows["n_pairs"] ** 2).to_numpy()


def test_few_texts_have_no_interval_and_blocks_count_as_texts():
    for n, block in ((9, int), (30, lambda seq: seq // 4)):
        for frame in _fitted(drawn_sums(n, 1), block):
            ends = [name for name in frame if name.endswith(("low", "high"))]
            assert frame[ends].isna().all(axis=None)
            assert frame.drop(columns=[*ends, "head"]).notna().all(axis=None)


def test_blocks_change_no_number_but_the_interval():
    sums = drawn_sums(40, 2)
    for alone, together in zip(_fitted(sums), _fitted(sums, lambda seq: seq // 2), strict=True):
        ends = [name for name in alone if name.endswith(("low", "high"))]
        pd.testing.assert_frame_equal(alone.drop(columns=ends), together.drop(columns=ends))
        assert (alone[ends] != together[ends]).all(axis=None)
