"""Weights and the norms they multiply: bins, fair samples, gates, and word frequency."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, spearmanr

from analysis.measures.correlation_parts import single_units
from analysis.measures.norms.fair_sample import SAMPLE_SIZE, earliest, sample_priorities
from analysis.measures.norms.frequency_correlation import rank_correlation
from analysis.measures.norms.histogram_correlation import histogram_spearman
from analysis.measures.norms.joint_histogram import bins
from analysis.measures.norms.vector_norms import norm_weighted_attention
from analysis.statistics import norms
from analysis.statistics.base import correlations
from analysis.statistics.base.columns import named, number
from analysis.statistics.base.correlations import with_frequency
from analysis.statistics.norms import HEAD_TOKEN
from analysis.token_types import TOKEN_TYPES
from tests.statistics.fits import made, store_of
from tests.tiny import HEADS, LAYERS
from tests.tracing import rows_of_table


@given(st.floats(2.0**-100, 2.0**100, width=32), st.sampled_from([4, 64]))
def test_bins_have_exact_edges_and_are_as_many_in_every_octave(value, per_octave):
    values = torch.tensor([value, 2 * value, 0, 2.0**-120], dtype=torch.float32)
    number, octave, nothing, little = bins(values, per_octave=per_octave).tolist()
    bits = torch.tensor([number, number + 1], dtype=torch.int32) << 24 - per_octave.bit_length()
    low, high = bits.view(torch.float32).tolist()
    assert low <= value < high
    assert octave - number == per_octave
    assert nothing == 0 < little


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40),
    st.integers(1, 10**12),
)
def test_counting_equal_pairs_together_and_often_changes_nothing(pairs, times):
    cells, counts = np.unique(np.array(pairs), axis=0, return_counts=True)
    first, second = cells.T
    correlation, often = (histogram_spearman(first, second, counts * n) for n in (1, times))
    expected = pd.DataFrame(pairs).corr(method="spearman").to_numpy()[0, 1]
    if np.isnan(expected):
        assert correlation is often is None
    else:
        assert correlation == pytest.approx(expected, abs=1e-12)
        assert often == pytest.approx(expected, abs=1e-9)


def test_merging_in_any_order_keeps_the_same_pairs_and_none_of_an_empty_stratum():
    drawn = [sample_priorities(np.random.default_rng(i), (1,), np.array([50])) for i in range(3)]

    def kept(parts: list[np.ndarray]) -> set[float]:
        joined = np.concatenate(parts, axis=-1)
        return set(np.take_along_axis(joined, earliest(joined), axis=-1).ravel().tolist())

    first = np.concatenate(drawn[:2], axis=-1)
    step = np.take_along_axis(first, earliest(first), axis=-1)
    assert kept(drawn) == kept(drawn[::-1]) == kept([step, drawn[2]])
    priorities = sample_priorities(np.random.default_rng(0), (2,), np.array([0, 5]))
    assert np.isfinite(priorities).all(axis=1).tolist() == [False, True]


def test_all_pairs_of_a_type_are_drawn_alike_by_seed(tiny, sequences):
    """Each head has its own draw, so a pair with chance 1/n is drawn about as often as others."""
    columns = ["layer", "head", "token_type", "seq", "query_pos", "key_pos"]
    drawn, other = (
        rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, sequences, seed=seed).to_pandas()
        for seed in (0, 1)
    )
    assert not other[columns].equals(drawn[columns])
    there: dict[str, list] = {}
    for sequence in sequences:
        for query, key in tiny.layers[0].pairs(len(sequence)).nonzero().tolist():
            kind = TOKEN_TYPES[sequence.token_types[key]]
            there.setdefault(kind, []).append((sequence.index, query, key))
    strata = drawn.groupby(columns[:3], observed=True).size()
    assert strata.tolist() == [SAMPLE_SIZE] * LAYERS * HEADS * len(there)
    for kind, rows in drawn.groupby("token_type", observed=True):
        counts = rows[columns[3:]].value_counts()
        by_pair = counts.reindex(pd.MultiIndex.from_tuples(there[kind]), fill_value=0)
        assert by_pair.sum() == len(rows), "of no other type"
        groups = [part for part in np.array_split(by_pair.to_numpy(), 12) if len(part)]
        expected = [len(part) * len(rows) / len(there[kind]) for part in groups]
        assert chisquare([part.sum() for part in groups], expected).pvalue > 1e-4, kind


def test_rows_without_any_norm_keep_their_weights():
    scores = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(0))
    attention = scores.softmax(dim=-1).tril().bfloat16()
    norms = torch.tensor([[0.0] * 6, [1.0] * 6, [0.0] + [2.0] * 5]).bfloat16()
    weighted = norm_weighted_attention(attention, norms[..., None, :])
    assert weighted.dtype == torch.float32
    torch.testing.assert_close(weighted[0], attention[0].float())
    assert weighted[2, 0, 0] == attention[2, 0, 0], "the first query sees nothing else"
    assert weighted[1:, 1:].sum(dim=-1).tolist() == pytest.approx(np.ones((2, 5)))
    assert (weighted.triu(1) == 0).all()


@pytest.mark.parametrize("family", ["afmoe"], indirect=True, scope="session")
def test_tokens_of_a_gated_model_have_no_norms_of_their_own(tiny, sequences):
    assert not len(rows_of_table(norms.HEAD_TOKEN, tiny, sequences))


TOKENS = 30_000


def _tokens() -> pd.DataFrame:
    """Frequent words with more of a quantity, some of them special, some of them none of it."""
    drawn = np.random.default_rng(0)
    ids = np.minimum(drawn.zipf(1.3, size=TOKENS), 500)
    value = np.where(drawn.random(TOKENS) < 0.1, 0, drawn.lognormal(size=TOKENS) / ids**0.2)
    texts = np.arange(TOKENS) // 100
    rows = pd.DataFrame({"seq": texts, "pos": np.arange(TOKENS) % 100, "token_id": ids})
    rows["token_type"] = np.where(ids < 2, "cls", "other")
    return rows.assign(is_masked=False, value=value, flat=1.0)


def test_ranks_of_bins_are_exact_ones_but_for_ties_of_close_values():
    numbers = {name: number(name, sql=f"avg({name})") for name in ("value", "flat")}
    key = named("which", (), name="of")
    table = with_frequency(
        "of_all_tokens", of=HEAD_TOKEN, rows="all_tokens", values=numbers, key=key
    )
    ranks, found = {"file": np.arange(600) // 3 + 1}, []
    for exact in (TOKENS, TOKENS - 1):
        with store_of(all_tokens=_tokens()) as store, patch.object(correlations, "EXACT", exact):
            found.append(made(table, store, frequency_ranks=ranks))
    pd.testing.assert_frame_equal(*found, rtol=0, atol=1e-4)
    assert not found[0].equals(found[1])
    for frame in found:
        assert frame.loc[frame["of"] == "flat", "spearman"].isna().all()
    of_value = found[0][found[0]["of"] == "value"]
    assert of_value["source"].tolist() == ["corpus", "corpus", "file", "file"]
    tokens = _tokens()
    for row in of_value[2:].itertuples():
        chosen = tokens[(tokens["token_type"] != "cls") | row.special_tokens]
        sides = chosen["token_id"] // 3 + 1, chosen["value"].astype(np.float32)
        assert (row.n, row.spearman) == (len(chosen), pytest.approx(spearmanr(*sides)[0]))


def test_the_interval_encloses_the_correlation():
    generator = np.random.default_rng(0)
    ranks = generator.integers(1, 12, size=80)
    values = generator.integers(0, 9, size=80) + ranks / 3
    found = rank_correlation(ranks, values, np.arange(80) // 8, single_units(10, seed=0))
    assert found is not None
    assert found.low < found.spearman < found.high
