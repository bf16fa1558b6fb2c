"""Weights and the norms they multiply: bins, fair samples, gates, and word frequency."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, spearmanr

from analysis.measures.correlation_parts import single_units
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.norms.fair_sample import SAMPLE_SIZE, earliest, sample_priorities
from analysis.measures.norms.frequency_correlation import rank_correlation
from analysis.measures.norms.histogram_correlation import (
    LEAST_BINS,
    can_be_ranked,
    histogram_spearman,
)
from analysis.measures.norms.joint_histogram import (
    ATTENTION_BINS_PER_OCTAVE,
    NORM_BINS_PER_OCTAVE,
    bins,
)
from analysis.measures.norms.vector_norms import (
    norm_shares_received,
    norm_weighted_attention,
)
from analysis.statistics import norms
from analysis.statistics.base import correlations
from analysis.statistics.base.columns import named, number
from analysis.statistics.base.correlations import with_frequency
from analysis.statistics.norms import HEAD_TOKEN
from analysis.token_types import TOKEN_TYPES
from tests.statistics.fits import made, store_of
from tests.statistics.mixing import slow_layers
from tests.tiny import HEADS, LAYERS
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
    bits = torch.tensor([number, number + 1], dtype=torch.int32) << 24 - per_octave.bit_length()
    edges = bits.view(torch.float32).tolist()
    assert edges[0] <= low < edges[1]
    assert bin_of(2 * low, per_octave) - number == per_octave
    assert bin_of(0.0, per_octave) == 0 < bin_of(2.0**-120, per_octave)


CELLS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40)


@given(CELLS, st.integers(1, 10**12))
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


def test_evenly_filled_bins_count_once_and_a_crowded_one_hides_the_rest():
    even = np.ones(LEAST_BINS, dtype=np.int64)
    assert can_be_ranked(np.arange(LEAST_BINS), even)
    assert not can_be_ranked(np.arange(LEAST_BINS - 1), even[1:])
    crowded = np.array([1000, *even])
    assert not can_be_ranked(np.arange(len(crowded)), crowded)


def test_parts_that_do_not_add_up_break_a_law(tiny, sequences):
    table = norms.ATTENTION_NORM_CORRELATION
    counts = rows_of_table(norms.ATTENTION_NORM_HISTOGRAM, tiny, sequences)
    with store_of(attention_norm_histogram=counts) as store:
        found = made(table, store)
    laws = " and ".join(f"({law})" for law in table.laws)
    for more, broken in ((0, False), (0.01, True)):
        rows = found.assign(within_heads=found["within_heads"] + more)
        with store_of(changed=rows) as store:
            assert bool(store.sql(f"from changed where not ({laws})").fetchall()) == broken


def _from_first(seed: int, n_pairs: tuple[int, int]) -> float:
    """Share of a merged sample that comes from the first of two sequences."""
    drawn = [
        sample_priorities(np.random.default_rng([seed, i]), (1,), np.array([n]))
        for i, n in enumerate(n_pairs)
    ]
    return float((earliest(np.concatenate(drawn, axis=-1)) < SAMPLE_SIZE).mean())


def test_sequences_share_a_sample_in_proportion_to_their_pairs_as_chance_has_it():
    assert np.mean([_from_first(seed, (3000, 1000)) for seed in range(200)]) == pytest.approx(
        0.75, abs=0.01
    )
    shares = [_from_first(seed, (1000, 1000)) for seed in range(400)]
    edges = [-np.inf, 0.45, 0.5, 0.55, np.inf]
    drawn = np.random.default_rng(9).binomial(SAMPLE_SIZE, 0.5, size=100_000) / SAMPLE_SIZE
    expected = np.histogram(drawn, edges)[0] * len(shares) / len(drawn)
    assert chisquare(np.histogram(shares, edges)[0], expected).pvalue > 1e-4


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


@pytest.fixture(scope="module")
def drawn(tiny, sequences) -> pd.DataFrame:
    return rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, sequences).to_pandas()


def test_all_pairs_of_a_type_are_drawn_alike_and_every_head_has_as_many(drawn, tiny, sequences):
    """Each head has its own draw, so a pair with chance 1/n is drawn about as often as others."""
    there: dict[str, list] = {}
    for sequence in sequences:
        for query, key in tiny.layers[0].pairs(len(sequence)).nonzero().tolist():
            kind = TOKEN_TYPES[sequence.token_types[key]]
            there.setdefault(kind, []).append((sequence.index, query, key))
    strata = drawn.groupby(["layer", "head", "token_type"], observed=True).size()
    assert strata.tolist() == [SAMPLE_SIZE] * LAYERS * HEADS * len(there)
    for kind, rows in drawn.groupby("token_type", observed=True):
        found = rows[["seq", "query_pos", "key_pos"]].itertuples(index=False, name=None)
        counts = pd.Series(list(found)).value_counts()
        assert set(counts.index) <= set(there[kind])
        by_pair = counts.reindex(pd.Index(there[kind], tupleize_cols=False), fill_value=0)
        groups = [part for part in np.array_split(by_pair.to_numpy(), 12) if len(part)]
        expected = [len(part) * len(rows) / len(there[kind]) for part in groups]
        assert chisquare([part.sum() for part in groups], expected).pvalue > 1e-4, kind


def test_another_seed_draws_other_pairs(drawn, tiny, sequences):
    columns = ["layer", "head", "token_type", "seq", "query_pos", "key_pos"]
    other = rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, sequences, seed=1).to_pandas()
    assert not other[columns].equals(drawn[columns])


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_rows_without_any_norm_keep_their_weights(dtype):
    scores = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(0))
    attention = scores.softmax(dim=-1).tril().to(dtype)
    norms = torch.tensor([[0.0] * 6, [1.0] * 6, [0.0] + [2.0] * 5]).to(dtype)
    weighted = norm_weighted_attention(attention, norms[..., None, :])
    assert weighted.dtype == torch.promote_types(dtype, torch.float32)
    torch.testing.assert_close(weighted[0], attention[0].to(weighted.dtype))
    assert weighted[2, 0, 0] == attention[2, 0, 0], "the first query sees nothing else"
    assert weighted[1:, 1:].sum(dim=-1).tolist() == pytest.approx(np.ones((2, 5)))
    assert (weighted.triu(1) == 0).all()


def test_queries_without_any_norm_keep_their_weights():
    attention = torch.full((1, 3, 4, 4), 0.5).tril()
    norms = torch.tensor([[[0.0] * 4, [1.0] * 4, [0.0] + [2.0] * 3]])
    is_token = torch.tensor([[True, True, True, False]])
    received = norm_shares_received(attention, norms, is_token)
    assert received.sum(dim=-1).tolist() == [[3.0, 3.0, 2.5]]
    assert received[0, 2].tolist() == [0.5, 1.5, 0.5, 0.0]


of_gates = pytest.mark.parametrize("family", ["afmoe"], indirect=True, scope="session")


@of_gates
def test_mixing_with_one_gate_for_a_head_is_that_of_the_vectors_of_pairs(traced_alone):
    """Up to what attention mixes: the rest is of an output with a gate for every coordinate."""
    for layer in traced_alone[1].layers:
        gate = layer.weights.gate
        one = replace(gate, weight=gate.weight[..., :1], bias=gate.bias[..., :1])
        by_head = replace(layer, weights=replace(layer.weights, gate=one))
        maps, expected = layer_mixing(by_head).maps, slow_layers.norms(by_head)
        for found, scope in zip(maps, layer.weights.order.scopes[:2], strict=False):
            torch.testing.assert_close(found, expected[scope])


@of_gates
def test_tokens_have_no_rows_of_their_own_norms(tiny, sequences):
    assert not len(rows_of_table(norms.HEAD_TOKEN, tiny, sequences))


TOKENS = 30_000


def _tokens() -> pd.DataFrame:
    """Frequent words with more of a quantity, some of them special, some of them none of it."""
    drawn = np.random.default_rng(0)
    ids = np.minimum(drawn.zipf(1.3, size=TOKENS), 500)
    value = np.where(drawn.random(TOKENS) < 0.1, 0, drawn.lognormal(size=TOKENS) / ids**0.2)
    texts = np.arange(TOKENS) // 100
    return pd.DataFrame(
        {
            "seq": texts,
            "pos": np.arange(TOKENS) % 100,
            "token_id": ids,
            "token_type": np.where(ids < 2, "cls", "other"),
            "is_masked": False,
            "value": value,
            "flat": 1.0,
        }
    )


@pytest.fixture(scope="module")
def both() -> list[pd.DataFrame]:
    """Found by exact ranks, and by those of bins."""
    numbers = {name: number(name, sql=f"avg({name})") for name in ("value", "flat")}
    table = with_frequency(
        "of_all_tokens",
        of=HEAD_TOKEN,
        rows="all_tokens",
        values=numbers,
        key=named("which", (), name="of"),
    )
    ranks, found = {"file": np.arange(600) // 3 + 1}, []
    for exact in (TOKENS, TOKENS - 1):
        with store_of(all_tokens=_tokens()) as store, patch.object(correlations, "EXACT", exact):
            found.append(made(table, store, frequency_ranks=ranks))
    return found


def test_both_ways_find_the_same_but_for_ties_of_close_values(both):
    one, other = both
    pd.testing.assert_frame_equal(one, other, rtol=0, atol=1e-4)
    assert not both[0].equals(both[1])
    for frame in both:
        assert frame.loc[frame["of"] == "flat", "spearman"].isna().all()
    of_value = both[0][both[0]["of"] == "value"]
    assert of_value["spearman"].abs().max() > 0.25
    assert of_value["source"].tolist() == ["corpus", "corpus", "file", "file"]
    tokens = _tokens()
    counts = tokens["token_id"].map(-tokens["token_id"].value_counts())
    ranks = {"corpus": counts, "file": tokens["token_id"] // 3 + 1}
    is_special = tokens["token_type"] == "cls"
    for row in of_value.itertuples():
        chosen = ~is_special | row.special_tokens
        sides = ranks[row.source][chosen], tokens["value"].astype(np.float32)[chosen]
        assert (row.n, row.spearman) == (chosen.sum(), pytest.approx(spearmanr(*sides)[0]))


def test_the_interval_encloses_and_is_none_for_one_sequence_over_and_over():
    generator = np.random.default_rng(0)
    ranks = generator.integers(1, 12, size=80)
    values = generator.integers(0, 9, size=80) + ranks / 3
    found = rank_correlation(ranks, values, np.arange(80) // 8, single_units(10, seed=0))
    assert found is not None
    assert found.low < found.spearman < found.high
    ranks, values = np.tile([1, 2, 3, 4], 12), np.tile([0.1, 0.3, 0.2, 0.9], 12)
    same = rank_correlation(ranks, values, np.arange(48) // 4, single_units(12, seed=0))
    assert same is not None
    assert (same.low, same.high) == pytest.approx((same.spearman, same.spearman))


def test_texts_that_differ_alone_have_it_all_between_them():
    """Every text repeats one rank and one value; then ranks are shuffled within each text."""
    texts = np.arange(120) // 6
    redrawn = single_units(20, seed=0)
    apart = rank_correlation(texts, 0.5 * texts, texts, redrawn)
    assert apart is not None
    within, between = apart.parts
    assert (within.contribution, between.contribution) == pytest.approx((0, 1), abs=1e-12)
    drawn = np.random.default_rng(0).permuted(np.tile(np.arange(6), (20, 1)), axis=1).ravel()
    paradox = rank_correlation(10 * texts + drawn, texts - 0.01 * drawn, texts, redrawn)
    assert paradox is not None
    within, between = paradox.parts
    assert within.high < 0 < between.low
    assert paradox.spearman == pytest.approx(within.contribution + between.contribution)
