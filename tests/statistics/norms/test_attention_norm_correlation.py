"""Spearman's ρ from counts of bins, and its parts over heads and layers, from pairs one by one."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from analysis.measures.norms.histogram_correlation import (
    LEAST_BINS,
    can_be_ranked,
    histogram_spearman,
)
from analysis.measures.norms.joint_histogram import bins
from analysis.statistics import norms
from analysis.statistics.base.correlations import OF_PAIRS
from analysis.token_types import TOKEN_TYPES
from tests.reference import correlation_parts, spearman
from tests.statistics.fits import made, store_of
from tests.tracing import layers_of, rows_of_table

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
def pairs(tiny, sequences) -> dict[str, dict[tuple[int, int], np.ndarray]]:
    """Bins of α and ‖f(x)‖ of every pair, by type of the key, then by layer and head."""
    found: dict = defaultdict(lambda: defaultdict(list))
    for layer in layers_of(tiny, sequences):
        alpha = bins(layer.attention, per_octave=4).tolist()
        of_keys = bins(layer.value_norms, per_octave=64).tolist()
        for number, sequence in enumerate(sequences):
            seen = layer.weights.pairs(len(sequence)).nonzero().tolist()
            for head in range(len(of_keys[number])):
                for query, key in seen:
                    cell = (alpha[number][head][query][key], of_keys[number][head][key])
                    kind = TOKEN_TYPES[sequence.token_types[key]]
                    found[kind][layer.weights.number, head + 1].append(cell)
    return {
        kind: {place: np.array(cells).T for place, cells in heads.items()}
        for kind, heads in found.items()
    }


@pytest.fixture(scope="module")
def store(tiny, sequences):
    """The table made from the histogram of the tiny model's sequences."""
    counts = rows_of_table(norms.ATTENTION_NORM_HISTOGRAM, tiny, sequences)
    with store_of(attention_norm_histogram=counts) as opened:
        table = norms.ATTENTION_NORM_CORRELATION
        opened.register("rows", made(table, opened))
        opened.execute(f"create table {table.name} as from rows")
        yield opened


@pytest.mark.parametrize("layer", [None, 1])
def test_parts_and_mean_ranks_are_those_of_the_pairs_one_by_one(store, pairs, layer):
    rows = store.sql("from attention_norm_correlation where head is null").df()
    rows = rows[rows["layer"].isna() if layer is None else rows["layer"] == layer]
    assert rows["spearman"].notna().any()
    for row in rows.to_dict("records"):
        heads = {
            place: cells
            for place, cells in pairs[row["token_type"]].items()
            if layer in (None, place[0])
        }
        joined = np.concatenate(list(heads.values()), axis=1)
        assert row["n"] == joined.shape[1]
        if np.isnan(row["spearman"]):
            continue
        groups = [(of[0], of) for of, cells in heads.items() for _ in range(cells.shape[1])]
        sides = [rankdata(side).tolist() for side in joined]
        assert row["spearman"] == pytest.approx(np.corrcoef(sides)[0, 1])
        slow = correlation_parts.parts(sides, groups)
        for part, (contribution, own) in zip(OF_PAIRS, slow, strict=True):
            assert row[part] == pytest.approx(contribution, abs=1e-9)
            assert row[f"{part}_spearman"] == pytest.approx(own or np.nan, nan_ok=True)
    for kind, heads in pairs.items():
        joined = np.concatenate(list(heads.values()), axis=1)
        ranks = (rankdata(joined, axis=1) - 0.5) / joined.shape[1]
        of_head = np.repeat(np.arange(len(heads)), [cells.shape[1] for cells in heads.values()])
        found = store.sql("from attention_norm_correlation").df()
        of_kind = found[(found["token_type"] == kind) & found["head"].notna()]
        for index, place in enumerate(heads):
            row = of_kind.set_index(["layer", "head"]).loc[place]
            expected = ranks[:, of_head == index].mean(axis=1)
            assert row[["attention_rank", "norm_rank"]].tolist() == pytest.approx(expected)


def test_a_head_is_all_within_and_medians_are_of_heads(store):
    rows = store.sql("from attention_norm_correlation").df()
    heads = rows[rows["head"].notna()]
    known = heads.dropna(subset="spearman")
    assert known["within_heads"].tolist() == pytest.approx(known["spearman"].tolist())
    assert not known[["between_heads", "between_layers"]].to_numpy().any()
    pooled = rows[rows["layer"].isna()].set_index("token_type")["median"]
    for kind, of_type in heads.groupby("token_type", observed=True)["spearman"]:
        assert pooled[kind] == pytest.approx(of_type.median(), nan_ok=True)


def test_parts_that_do_not_add_up_break_a_law(store):
    laws = " and ".join(f"({law})" for law in norms.ATTENTION_NORM_CORRELATION.laws)
    rows = "from attention_norm_correlation select * replace ({} as within_heads)"
    for changed, broken in (("within_heads", 0), ("within_heads + 0.01", 1)):
        found = store.sql(f"select count(*) from ({rows.format(changed)}) where not ({laws})")
        assert (found.fetchall()[0][0] > 0) == broken
