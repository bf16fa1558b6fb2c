"""Bins of weights and norms, Spearman's ρ from their counts, and a law of its parts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.norms.histogram_correlation import (
    LEAST_BINS,
    can_be_ranked,
    histogram_spearman,
)
from analysis.measures.norms.joint_histogram import (
    ATTENTION_BINS_PER_OCTAVE,
    NORM_BINS_PER_OCTAVE,
    bin_edges,
    bins,
)
from analysis.statistics import norms
from tests.reference import spearman
from tests.statistics.fits import made, store_of
from tests.tracing import rows_of_table

POSITIVE = st.floats(2.0**-100, 2.0**100, width=32)
PER_OCTAVE = st.sampled_from([ATTENTION_BINS_PER_OCTAVE, NORM_BINS_PER_OCTAVE])


def bin_of(value: float, per_octave: int) -> int:
    return int(bins(torch.tensor([value], dtype=torch.float32), per_octave=per_octave)[0])


@given(POSITIVE, POSITIVE, PER_OCTAVE)
def test_bins_keep_order_have_exact_edges_and_are_as_many_in_every_octave(one, other, per_octave):
    low, high = sorted((one, other))
    number = bin_of(low, per_octave)
    assert number <= bin_of(high, per_octave)
    edges = bin_edges(torch.tensor([number, number + 1]), per_octave=per_octave).tolist()
    assert edges[0] <= low < edges[1]
    assert bin_of(2 * low, per_octave) - number == per_octave
    assert bin_of(0.0, per_octave) == 0 < bin_of(2.0**-120, per_octave)


CELLS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40)


@given(CELLS, st.integers(1, 10**12))
def test_counting_equal_pairs_together_and_often_changes_nothing(pairs, times):
    cells, counts = np.unique(np.array(pairs), axis=0, return_counts=True)
    first, second = cells.T
    correlation, often = (histogram_spearman(first, second, counts * n) for n in (1, times))
    expected = spearman.spearman(*map(list, zip(*pairs, strict=True)))
    assert correlation == (expected if expected is None else pytest.approx(expected, abs=1e-12))
    assert often == (expected if expected is None else pytest.approx(expected, abs=1e-9))


def test_evenly_filled_bins_count_once_and_a_crowded_one_hides_the_rest():
    even = np.ones(LEAST_BINS, dtype=np.int64)
    assert can_be_ranked(np.arange(LEAST_BINS), even)
    assert not can_be_ranked(np.arange(LEAST_BINS - 1), even[1:])
    crowded = np.array([1000, *even])
    assert not can_be_ranked(np.arange(len(crowded)), crowded)


@pytest.fixture(scope="module")
def store(tiny, sequences):
    """The table made from the histogram of the tiny model's sequences."""
    counts = rows_of_table(norms.ATTENTION_NORM_HISTOGRAM, tiny, sequences)
    with store_of(attention_norm_histogram=counts) as opened:
        table = norms.ATTENTION_NORM_CORRELATION
        opened.register("rows", made(table, opened))
        opened.execute(f"create table {table.name} as from rows")
        yield opened


def test_parts_that_do_not_add_up_break_a_law(store):
    laws = " and ".join(f"({law})" for law in norms.ATTENTION_NORM_CORRELATION.laws)
    rows = "from attention_norm_correlation select * replace ({} as within_heads)"
    for changed, broken in (("within_heads", 0), ("within_heads + 0.01", 1)):
        found = store.sql(f"select count(*) from ({rows.format(changed)}) where not ({laws})")
        assert (found.fetchall()[0][0] > 0) == broken
