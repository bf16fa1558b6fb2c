"""Scores by offset: sums along diagonals, terms of offsets, turned planes, kernels and shares."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures import bootstrap
from analysis.measures.positions.score_share import TermTotals, score_shares
from analysis.measures.positions.score_sums import bucket_ends, offset_totals
from analysis.models.offset_terms import OffsetTerms
from analysis.models.trace import ModelWeights
from analysis.scopes import PRE_NORM
from analysis.statistics.base.tables import FitContext, Table
from analysis.statistics.positions.scores import (
    QUERY_KEY_CORRELATION,
    QUERY_KEY_PHASE,
    QUERY_KEY_ROTATION,
    QUERY_KEY_SINGULAR_VALUE,
    QUERY_KEY_WAVE,
    STATE_SPECTRUM,
)
from analysis.statistics.positions.sums import (
    OFFSET_TERM,
    POSITION_KERNEL,
    ROTARY_PLANE,
    SCORE_SHARE,
)
from precompute.corpora.sequence import Entry
from precompute.passes.filling import begin, rows_of_weights
from tests.statistics.positions.turned_layers import (
    changed_layers,
    stored,
    turning,
)
from tests.tiny import TEXTS, tiny_model, tiny_sequences
from tests.tracing import layers_of


@pytest.mark.parametrize("kind", ["t5", "deberta-v2"])
def test_sums_along_diagonals_are_those_of_the_models_scores(kind):
    layers = layers_of(tiny_model(kind), tiny_sequences(kind)[:1])
    rows = stored(QUERY_KEY_CORRELATION, layers)
    for layer in layers:
        scores = layer.weights.scores(layer.trace.attention_input) / layer.weights.score_scale
        scores = scores[0].numpy()
        centred = scores - scores.mean(axis=-1, keepdims=True)
        of_layer = rows[rows["layer"] == layer.weights.number]
        for row in of_layer.to_dict("records"):
            for name, matrix in (("value", scores), ("value_centred", centred)):
                expected = np.trace(matrix[row["head"] - 1], offset=row["offset"])
                assert row[name] == pytest.approx(expected, abs=1e-9)


KINDS = {
    "all": ("bias", "of_queries", "of_keys"),
    "bias": ("bias",),
    "queries": ("of_queries",),
    "keys": ("of_keys",),
}


HEADS, REACH = 3, 4


def four_terms(reads, weights, terms, head):
    """Offsets of all pairs of all texts, their scores by position alone, and shares of four terms.

    With P, R and b those of a pair's offset, and E the mean over all pairs, position alone is
    E q · P + E k · R + b; the query's content is q · P less its mean, the key's k · R less its own,
    and both q · k.
    """
    pairs, start = [], 0
    for read in reads:
        i, j = weights.pairs(len(read)).nonzero().T
        buckets = terms.bucket_of(j - i)
        sides = weights.queries(read)[head][i], weights.keys(read)[head][j]
        tables = (getattr(terms, name) for name in KINDS["all"])
        of_offset = (0 * sides[0] if of is None else of[head][buckets] for of in tables)
        pairs.append((*sides, *of_offset, start + i, j - i))
        start += len(read)
    query, key, bias, p, r, row, offset = (torch.cat(of).numpy() for of in zip(*pairs, strict=True))
    bias = bias if bias.ndim == 1 else bias.sum(axis=1)
    means = (p @ query.mean(axis=0), r @ key.mean(axis=0))
    position = sum(means) + bias
    of_query, of_key = (query * p).sum(axis=1) - means[0], (key * r).sum(axis=1) - means[1]
    parts = np.stack([position, of_query, of_key, (query * key).sum(axis=1)])
    scores = parts.sum(axis=0)
    centred = scores - (np.bincount(row, scores) / np.bincount(row))[row]
    return offset, position, parts @ centred / (centred @ centred)


def _terms(kind="all", *, n_buckets=2 * REACH + 1):
    """Random tables; offsets beyond the reach share the last bucket."""
    draw = torch.Generator().manual_seed(0)
    shapes = {"bias": (HEADS, n_buckets)} | dict.fromkeys(
        ("of_queries", "of_keys"), (HEADS, n_buckets, 4)
    )
    tables = {
        name: torch.randn(shapes[name], generator=draw, dtype=torch.float64) for name in KINDS[kind]
    }
    buckets = torch.arange(2 * REACH + 1).clamp(max=n_buckets - 1)
    return OffsetTerms(buckets, **tables)


def _with_terms(layer, terms, **changed):
    return replace(layer.weights, offset_terms=terms, score_scale=0.3, **changed)


def _head_totals(totals, head):
    """Totals of one head, from one or several texts."""
    sums = {
        name: np.sum([getattr(total, name)[[head]].numpy() for total in totals], axis=0)
        for name in TermTotals._fields[:6]
    }
    whole, n_pairs = (
        sum(total.score[head].sum() for total in totals),
        sum(total.n_pairs for total in totals),
    )
    return TermTotals(**sums, whole=np.array([float(whole)]), n_pairs=np.array([float(n_pairs)]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [None, 3])
def test_kernel_and_shares_are_those_of_all_pairs_of_all_texts_written_out(
    traced_alone, kind, window
):
    layers = [trace.layers[1] for trace in traced_alone[1:3]]
    terms = _terms(kind)
    weights = _with_terms(layers[0], terms, window=window)
    reads = [layer.attention_input[0] for layer in layers]
    of_texts = [offset_totals(read, weights) for read in reads]
    for head in range(HEADS):
        totals = _head_totals(of_texts, head)
        offset, position, expected = four_terms(reads, weights, terms, head)
        (kernel,) = (totals.query + totals.key + totals.bias) / totals.n_pairs
        near = abs(offset) <= REACH
        np.testing.assert_allclose(kernel[offset[near] + REACH], 0.3 * position[near], atol=1e-12)
        (shares,) = score_shares(totals)
        np.testing.assert_allclose(shares, expected, atol=1e-9)
        assert shares.sum() == pytest.approx(1, abs=1e-12)
        faint = replace(weights, score_scale=1e-4)  # the unit of scores decides nothing
        again = _head_totals([offset_totals(read, faint) for read in reads], head)
        np.testing.assert_allclose(score_shares(again)[0], shares, atol=1e-9)


def test_equal_scores_have_no_shares(traced_alone):
    layer = traced_alone[0].layers[0]
    terms = OffsetTerms(torch.zeros(3, dtype=torch.long), bias=torch.ones(HEADS, 1).double())
    names = ("query_weight", "query_bias")
    nothing = {name: torch.zeros_like(getattr(layer.weights, name)) for name in names}
    totals = offset_totals(layer.attention_input[0], _with_terms(layer, terms, **nothing))
    assert np.isnan(score_shares(_head_totals([totals], 0))).all()


def test_buckets_end_where_the_next_begins(traced_alone):
    terms = OffsetTerms(torch.tensor([4, 3, 3, 0, 1, 2, 2]))
    ends = bucket_ends(terms.bucket_of(torch.arange(-6, 7)), 6)
    assert ends == [(4, -6, -3), (3, -2, -1), (0, 0, 0), (1, 1, 1), (2, 2, 6)]


def test_directions_are_asked_of_no_layer_that_turns(tiny, sequences):
    turned = ModelWeights(tuple(map(turning, tiny.layers)), None)
    for table in (QUERY_KEY_ROTATION, QUERY_KEY_SINGULAR_VALUE):
        assert rows_of_weights(table, turned).num_rows == 0
    kept = frozenset(sequence.index for sequence in sequences)
    layers = changed_layers(tiny, sequences, turning, exemplars=kept)
    as_they_are = changed_layers(tiny, sequences, lambda weights: weights, exemplars=kept)
    for table in (QUERY_KEY_WAVE, QUERY_KEY_PHASE, STATE_SPECTRUM):
        assert len(stored(table, layers)) == 0
        assert len(stored(table, as_they_are)) > 0


N, PARTS = 12, ("position", "query", "key", "content")
OFFSETS = {"gpt_neox": (-3, -1, 0), "t5": (-9, -3, 0, 2, 40), "deberta-v2": (-9, -3, 0, 2, 40)}
"""Offsets that are looked at: in one model half of the planes are not turned."""
WORDS = ("the", "cat", "sat", "dog", "ran", "mat")


def fit_context() -> FitContext:
    return FitContext(seed=0, order=PRE_NORM, frequency_ranks={})


def fitted(
    table: Table, rows: pd.DataFrame, offsets: Any, block: Callable[[int], int] = int
) -> tuple[Any, Any]:
    """Kernels and shares from rows of shards; by default each sequence is a block."""
    seqs = sorted(rows["seq"].unique())
    blocks = pd.DataFrame({"seq": seqs, "block": list(map(block, seqs))}, dtype="int32")
    heads = rows[["layer", "head"]].drop_duplicates()
    compared = heads.merge(pd.DataFrame({"offset": offsets}), how="cross")
    with duckdb.connect() as store:
        store.register("blocks", blocks)
        for other in (ROTARY_PLANE, OFFSET_TERM):
            there = rows if other is table else other.shard_schema.empty_table()
            store.register(f"{other.name}_shards", there)
        store.register("query_key_correlation_mean", compared)
        kernels, shares = (
            made.made_by(made, store, fit_context()).to_pandas()
            for made in (POSITION_KERNEL, SCORE_SHARE)
            if made.made_by
        )
    return kernels, shares


def shard_rows(table: Table, kind: str, entries: Any = TEXTS) -> pd.DataFrame:
    """Rows of a table's shards for texts of a tiny model."""
    layers = layers_of(tiny_model(kind), tiny_sequences(kind, entries))
    filling = begin(table, layers[0].batch)
    for layer in layers:
        filling.add(layer)
    return filling.rows().to_pandas()


@cache
def shards(kind: str, n: int = N) -> tuple[Table, pd.DataFrame]:
    """A table and rows of its shards for texts of random words."""
    draw = np.random.default_rng(0)
    lines = [" ".join(draw.choice(WORDS, size=3 + seq % 7)) + "." for seq in range(n)]
    entries = tuple(Entry(f"line {seq}", (line,)) for seq, line in enumerate(lines))
    table = ROTARY_PLANE if kind == "gpt_neox" else OFFSET_TERM
    return table, shard_rows(table, kind, entries)


def redrawn(rows: pd.DataFrame, times: np.ndarray) -> pd.DataFrame:
    """Rows in which each sequence is as often as it was drawn, every copy a sequence of its own."""
    copies = enumerate(np.repeat(np.arange(len(times)), times))
    return pd.concat([rows[rows["seq"] == seq].assign(seq=copy) for copy, seq in copies])


@pytest.mark.parametrize("kind", OFFSETS)
def test_ends_are_percentiles_of_what_redrawn_sequences_make(kind, monkeypatch):
    monkeypatch.setattr(bootstrap, "RESAMPLES", 9)
    table, rows = shards(kind)
    draws = fit_context().redraws(np.arange(N)).weights.astype(int)
    found = fitted(table, rows, OFFSETS[kind])
    drawn = [fitted(table, redrawn(rows, times), OFFSETS[kind]) for times in draws]
    ends = {"kernel": ("low", "high")} | {part: (f"{part}_low", f"{part}_high") for part in PARTS}
    for frame, of_draws in zip(found, zip(*drawn, strict=True), strict=True):
        for name in ends.keys() & {*frame}:
            expected = np.quantile([of[name] for of in of_draws], [0.025, 0.975], axis=0)
            np.testing.assert_allclose(frame[[*ends[name]]].T, expected, rtol=1e-7, atol=1e-12)
    width = found[0]["high"] - found[0]["low"]
    assert (width < 1e-14).all() if kind == "t5" else (width > 1e-6).all()


def test_few_texts_have_no_interval_and_blocks_count_as_texts():
    for n, block in ((9, int), (30, lambda seq: seq // 4)):
        for frame in fitted(*shards("gpt_neox", n), OFFSETS["gpt_neox"], block):
            ends = [name for name in frame if name.endswith(("low", "high"))]
            assert frame[ends].isna().all(axis=None)
            assert frame.drop(columns=[*ends, "head"]).notna().all(axis=None)


def test_the_kernel_of_a_t5_is_its_bias_at_every_offset_there_is():
    kernels, shares = fitted(OFFSET_TERM, shard_rows(OFFSET_TERM, "t5"), range(-17, 18))
    model = tiny_model("t5").model
    bias = model.encoder.block[0].layer[0].SelfAttention.compute_bias(18, 18)[0].detach()
    assert len(kernels) == 2 * 3 * 35
    for row in kernels.to_dict("records"):
        i = max(0, -row["offset"])
        expected = float(bias[row["head"] - 1, i, i + row["offset"]])
        assert row["kernel"] == pytest.approx(expected, rel=1e-12)
    assert len(shares) == 2 * (3 + 1), "every head, and the mean over heads of each layer"
    assert (shares[["query", "key"]] == 0).all(axis=None)
    assert (shares["position"] != 0).all()
    np.testing.assert_allclose(shares["position"] + shares["content"], 1)
