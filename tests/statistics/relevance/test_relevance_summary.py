"""Summary numbers of relevance maps, against loops over tokens, cases by hand, and laws."""

import math
from math import ceil, isnan, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.relevance.relevance_summary import QUANTITIES, relevance_summary
from analysis.statistics.relevance import OF_MAPS
from tests.precompute.corpora.tiny import unhurried

Numbers = dict[str, float | None]


def slow_summary(
    relevance: list[float],
    is_cls: list[bool],
    is_content: list[bool],
    coverage: list[float] | None = None,
) -> Numbers:
    """Summary of one map.

    `coverage` is by content token; NaN where the mask is unknown.
    """
    row: Numbers = dict.fromkeys(
        ["cls_share", "entropy", "evenness", "top5_share", "mask_share", "mask_chance", "pointing"]
    )
    total = sum(relevance)
    if any(is_cls):
        row["cls_share"] = sum(r for r, cls in zip(relevance, is_cls, strict=True) if cls) / total
    content = [r for r, inside in zip(relevance, is_content, strict=True) if inside]
    row["special_share"] = (total - sum(content)) / total
    n = len(content)
    if sum(content) > 0:
        shares = [r / sum(content) for r in content]
        row["entropy"] = -sum(r * log(r) for r in shares if r > 0)
        row["evenness"] = row["entropy"] / log(n) if n > 1 else None
        row["top5_share"] = sum(sorted(shares, reverse=True)[: ceil(n / 20)])
    known = [
        (r, inside)
        for r, inside in zip(content, coverage or [], strict=bool(coverage))
        if not isnan(inside)
    ]
    if known:
        row["mask_chance"] = sum(inside for _, inside in known) / len(known)
        if (seen := sum(r for r, _ in known)) > 0:
            row["mask_share"] = sum(r * inside for r, inside in known) / seen
            largest = max(r for r, _ in known)
            tied = [inside for r, inside in known if r == largest]
            row["pointing"] = sum(tied) / len(tied)
    return row


def summaries(maps, *, n_special=1, has_cls=True, coverage=None) -> list[dict[str, float]]:
    """Numbers of maps whose first tokens are special, the very first of them [CLS]."""
    maps = np.asarray(maps, dtype=float)
    places = np.arange(maps.shape[1])
    numbers = relevance_summary(
        maps,
        is_cls=(places == 0) & has_cls,
        is_content=places >= n_special,
        coverage=None if coverage is None else np.asarray(coverage, dtype=float),
    )
    return [dict(zip(QUANTITIES, row, strict=True)) for row in numbers.tolist()]


def assert_same(found: dict[str, float], expected: Numbers) -> None:
    assert set(found) == set(expected)
    for name, value in expected.items():
        if value is None:
            assert math.isnan(found[name]), name
        else:
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name


def test_the_measure_and_the_table_tell_the_same_quantities():
    assert tuple(OF_MAPS) == QUANTITIES


SHARES = st.one_of(st.just(0.0), st.sampled_from([0.25, 0.5]), st.floats(1e-6, 1))


@given(
    st.lists(SHARES, min_size=1, max_size=45).filter(any),
    st.integers(0, 2),
    st.booleans(),
    st.integers(0, 2**31),
)
@unhurried()
def test_every_number_is_that_of_the_twin(relevance, n_special, has_cls, seed):
    n_special = min(n_special, len(relevance))
    n = len(relevance) - n_special
    inside = np.random.default_rng(seed).choice([0, 0.3, 1, np.nan], n)
    for coverage in None, inside.tolist():
        (summary,) = summaries([relevance], n_special=n_special, has_cls=has_cls, coverage=coverage)
        assert_same(
            summary,
            slow_summary(
                relevance,
                [place == 0 and has_cls for place in range(len(relevance))],
                [place >= n_special for place in range(len(relevance))],
                coverage,
            ),
        )


def test_maps_do_not_see_each_other():
    maps = np.random.default_rng(0).random((5, 9))
    maps[2, 1:] = 0  # all of it on [CLS]
    together = summaries(maps, coverage=np.linspace(0, 1, 8))
    apart = [summaries([relevance], coverage=np.linspace(0, 1, 8))[0] for relevance in maps]
    for one, other in zip(together, apart, strict=True):
        assert one == pytest.approx(other, nan_ok=True)
    absent = {name for name, value in together[2].items() if math.isnan(value)}
    assert absent == {"entropy", "evenness", "top5_share", "mask_share", "pointing"}


@pytest.mark.parametrize(("n", "n_top"), [(1, 1), (20, 1), (21, 2), (140, 7), (196, 10)])
def test_five_in_a_hundred_are_counted_without_rounding(n, n_top):
    (summary,) = summaries([[0.0, *range(n, 0, -1)]])
    total = n * (n + 1) / 2
    assert summary["top5_share"] == pytest.approx(sum(range(n, n - n_top, -1)) / total)


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=30), st.floats(1e-3, 1e3))
@unhurried()
def test_numbers_stay_within_their_bounds_whatever_the_sum(relevance, scale):
    coverage = np.linspace(0, 1, len(relevance) - 1)
    summary, again = summaries([relevance, [scale * r for r in relevance]], coverage=coverage)
    assert summary == pytest.approx(again, rel=1e-9, nan_ok=True)
    n = len(relevance) - 1
    assert -1e-12 <= summary["entropy"] <= math.log(n) + 1e-9
    assert all(
        -1e-12 <= summary[q] <= 1 + 1e-9 for q in QUANTITIES if q not in ("entropy", "evenness")
    )
