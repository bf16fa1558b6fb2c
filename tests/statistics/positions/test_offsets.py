"""Attention by offset: preferred offsets, their agreement, clusters, patches; spectra."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures import bootstrap
from analysis.measures.bootstrap import redraws
from analysis.measures.positions.offset_agreement import (
    agreement,
    preferred_offsets,
    rank_correlation,
)
from analysis.measures.positions.position_spectrum import embedding_spectrum, wave_length
from analysis.measures.positions.profile_clusters import (
    centre_names,
    nearest_centres,
    profile_centres,
)
from analysis.measures.positions.score_share import TermTotals, score_shares
from analysis.measures.positions.score_sums import bucket_ends, offset_totals
from analysis.models.offset_terms import OffsetTerms
from analysis.scopes import PRE_NORM
from analysis.statistics.base.tables import FitContext, Table
from analysis.statistics.positions.attention import (
    COUNTINGS,
    MIN_DEPENDENCES,
    OFFSET_AGREEMENT,
    PATCH_OFFSET,
)
from analysis.statistics.positions.scores import STATE_SPECTRUM
from analysis.statistics.positions.sums import (
    OFFSET_TERM,
    POSITION_KERNEL,
    ROTARY_PLANE,
    SCORE_SHARE,
)
from precompute.corpora.sequence import Entry
from precompute.jobs.shards import as_stored
from precompute.passes.filling import begin
from tests.statistics.fits import made, public, store_of, stored
from tests.tiny import WIDTH, tiny_model, tiny_sequences
from tests.tiny_vision import COLUMNS, HEADS, ROWS
from tests.tracing import layers_of, rows_of_table


def test_of_equal_values_the_nearest_is_preferred_and_then_the_left():
    values = [[1, 0, 0, 0, 0, 0, 2], [1, 0, 1, 0, 0, 0, 1], [0, 0, 5, 0, 5, 0, 0]]
    found = preferred_offsets(np.array(values, dtype=float), np.arange(-3, 4))
    assert found.tolist() == [3, -1, -1]


def _spearman(scores, attention):
    """None if either side is constant."""
    if len(set(scores)) == 1 or len(set(attention)) == 1:
        return None
    return pd.Series(scores).corr(pd.Series(attention), method="spearman")


def test_intervals_are_the_percentiles_of_resampled_heads():
    draw = np.random.default_rng(0)
    scores = draw.integers(-3, 4, size=15)
    attention = np.where(draw.random(15) < 0.5, scores, draw.integers(-3, 4, size=15))
    of_draws = []
    for counts in redraws(np.arange(15), seed=4).weights.astype(int):
        sides = [np.repeat(offsets, counts) for offsets in (scores, attention)]
        of_draws.append(((sides[0] == sides[1]).mean(), _spearman(*sides)))
    expected = np.quantile(np.array(of_draws), [0.025, 0.975], axis=0)
    for place, number in enumerate((agreement, rank_correlation)):
        found = number(scores, attention, seed=4)
        np.testing.assert_allclose([found.low, found.high], expected[:, place], atol=1e-9)
        few = number(scores[:9], attention[:9], seed=4)
        assert np.isnan([few.low, few.high]).all(), "nine heads have no interval"


PLANTED = np.array([[0, 0.9, 0, 0, 0], [0.1, 0, 0, 0, 0.1], [0, 0.05, 0.1, 0.5, 0]])


def test_planted_clusters_are_found_again():
    draw = np.random.default_rng(0)
    of = draw.integers(len(PLANTED), size=300)
    profiles = PLANTED[of] + draw.normal(scale=0.01, size=(300, 5))
    clustering = profile_centres(profiles, 3, seed=0)
    assert clustering is not None
    np.testing.assert_allclose(clustering.centres, PLANTED[[0, 2, 1]], atol=0.005)
    assert clustering.sizes.tolist() == np.bincount(of)[[0, 2, 1]].tolist()
    assert (np.array([0, 2, 1])[nearest_centres(profiles, clustering.centres)] == of).all()
    within = np.square(profiles - clustering.centres[np.array([0, 2, 1])[of]]).sum()
    total = np.square(profiles - profiles.mean(axis=0)).sum()
    assert clustering.explained == pytest.approx(1 - within / total)
    assert profile_centres(np.repeat(np.eye(5)[:3], 4, axis=0), 4, seed=0) is None


def test_a_centre_is_named_by_its_direction_and_its_peak():
    names: dict[str, list[list[float]]] = {
        "previous_strong": [[0, 0.4, 0, 0, 0]],
        "previous_moderate": [[0, 0.39, 0, 0, 0], [0, 0.3, 0, 0.14, 0]],
        "both_moderate": [[0, 0.3, 0, 0.15, 0]],
        "next_weak": [[0.01, 0.02, 0.02, 0.04, 0.09]],
        "self_strong": [[0, 0.1, 0.6, 0.1, 0]],
        "both_weak": [[0, 0, 0, 0, 0]],
    }
    for name, centres in names.items():
        for centre in centres:
            assert centre_names(np.array([centre], dtype=float), np.arange(-2, 3)) == [name]
    peaks = np.outer([0.9, 0.9, 0.2], np.eye(5)[1])
    numbered = ["previous_strong", "previous_strong_2", "previous_moderate"]
    assert centre_names(peaks, np.arange(-2, 3)) == numbered


@given(st.integers(0, 99))
def test_the_nearest_centre_is_at_the_smallest_distance_and_the_first_of_several(seed):
    draw = np.random.default_rng(seed).integers(0, 8, size=(9, 4)) / 4
    distances = np.square(draw[:6, None] - draw[6:]).sum(axis=-1)
    np.testing.assert_array_equal(nearest_centres(draw[:6], draw[6:]), distances.argmin(axis=1))


def slow_offsets(matrix):
    """Attention of one head by row and column offset, per patch and per pair."""
    weights = {}
    for query, key in product(range(ROWS * COLUMNS), repeat=2):
        down, right = np.subtract(divmod(key, COLUMNS), divmod(query, COLUMNS)).tolist()
        weights.setdefault((down, right), []).append(matrix[query][key])
    return {
        offset: (sum(values) / (ROWS * COLUMNS), sum(values) / len(values))
        for offset, values in weights.items()
    }


@pytest.mark.parametrize("family", ["dinov2_with_registers"], indirect=True, scope="session")
def test_offsets_are_means_over_images_of_their_patches_alone(tiny, sequences):
    """The model has several special tokens in front of the patches."""
    layers = layers_of(tiny, sequences)
    rows = public(PATCH_OFFSET, stored(PATCH_OFFSET, layers), "patch_offset")
    rows = rows.set_index(["layer", "head"])
    first = len(sequences[0]) - ROWS * COLUMNS
    for layer, head in product(layers, range(HEADS)):
        maps = layer.attention[:, head, first:, first:].tolist()
        slow = [slow_offsets(matrix) for matrix in maps]
        of_head: Any = rows.loc[(layer.weights.number, head + 1)]
        assert len(of_head) == len(slow[0]) == (2 * ROWS - 1) * (2 * COLUMNS - 1)
        assert (of_head["n_images"] == len(sequences)).all()
        for row in of_head.itertuples():
            both = [offsets[row.row_offset, row.column_offset] for offsets in slow]
            expected = np.mean(both, axis=0)
            assert (row.attention, row.attention_per_pair) == pytest.approx(tuple(expected), 1e-4)


def test_agreement_is_counted_over_the_heads_that_depend_enough():
    draw = np.random.default_rng(0)
    offsets = {name: draw.integers(-2, 2, 24) for names in COUNTINGS.values() for name in names}
    heads = pd.DataFrame({"layer": np.arange(24) // 8 + 1, "head": np.arange(24) % 8 + 1})
    heads = heads.assign(dependence=draw.random(24) ** 3, **offsets)
    with store_of(head_offset=heads) as store:
        rows: Any = made(OFFSET_AGREEMENT, store).fillna({"layer": 0})
    found = {
        (row.counting, round(row.min_dependence, 2), row.layer): row for row in rows.itertuples()
    }
    for (counting, columns), least in product(COUNTINGS.items(), MIN_DEPENDENCES):
        chosen = heads[heads["dependence"] >= least]
        for layer, of in (*chosen.groupby("layer"), (0, chosen)):
            row = found.pop((counting, least, layer), None)
            assert (row is None) == (len(of) < 2)
            if row is not None:
                one, other = (of[name].to_numpy() for name in columns)
                same, likely = (one == other).mean(), np.equal.outer(one, other).mean()
                found_here = row.n_heads, row.agreement, row.chance
                assert found_here == pytest.approx((len(of), same, likely))
                rho = _spearman(one, other)
                expected = np.nan if rho is None else rho
                assert row.spearman == pytest.approx(expected, nan_ok=True)
    assert not found


N, CYCLES = 32, 2
FREQUENCY = 512 * CYCLES / N


def test_the_control_has_the_same_energy_and_is_drawn_the_same_every_time():
    wave = torch.sin(2 * np.pi * 5 * torch.arange(64) / 64)[:, None].double()
    kept, permuted = embedding_spectrum(wave)[:, :, 0]
    assert kept.argmax() == 5
    assert kept[5] == pytest.approx(32)
    assert permuted.max() < 20
    weights = torch.tensor([1.0, *[2.0] * 31, 1.0], dtype=torch.float64)
    for spectrum in (kept, permuted):
        assert float(weights @ spectrum.square()) / 64 == pytest.approx(32)
    assert torch.equal(embedding_spectrum(wave)[1, :, 0], permuted)
    assert [wave_length(n) for n in (15, 16, 31, 127, 512, 2048)] == [0, 16, 16, 64, 512, 2048]


def test_the_line_vanishes_without_positions_and_spreads_when_they_are_permuted():
    """A model passes its embeddings on, to a text of 32 tokens: those of positions are one wave in
    twelve phases, those of words are nothing."""
    loaded = tiny_model("bert")
    embedding = loaded.model.embeddings.position_embeddings.weight
    turns = np.arange(len(embedding))[:, None] * CYCLES / N + np.arange(WIDTH) / WIDTH
    with torch.no_grad():
        for name, parameter in loaded.model.named_parameters():
            parameter.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        embedding.copy_(torch.from_numpy(np.cos(2 * np.pi * turns)))
    sequence = tiny_sequences("bert")[3]
    names = ("ids", "segments", "token_types", "words", "masked")
    arrays = {name: np.resize(getattr(sequence, name), N) for name in names}
    text = replace(sequence, index=0, tokens=(sequence.tokens * N)[:N], **arrays)
    rows = rows_of_table(STATE_SPECTRUM, loaded, [text])
    spectra = as_stored(STATE_SPECTRUM, rows).to_pandas().astype({"control": str, "source": str})
    words = spectra[spectra["source"] == "word_embedding"]
    assert (words["max"] == 0).all()
    assert set(words["control"]) == {"kept"}
    assert words["layer"].isna().all()
    for layer in (1, 2):
        here = spectra[(spectra["source"] == "hidden") & (spectra["layer"] == layer)]
        by_control = {
            name: rows.set_index("frequency")["max"] for name, rows in here.groupby("control")
        }
        assert by_control["removed"].max() < 1e-9
        permuted = by_control["permuted"]
        assert permuted[FREQUENCY] < by_control["compared"][FREQUENCY] / 2
        assert (permuted.drop([0.0, FREQUENCY]) > 0.5).mean() > 0.9


KINDS = {"all": ("bias", "of_queries", "of_keys"), "bias": ("bias",), "keys": ("of_keys",)}
N_HEADS, REACH = 3, 4


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


def _terms(kind="all"):
    """Random tables."""
    draw, shape = torch.Generator().manual_seed(0), (N_HEADS, 2 * REACH + 1, 4)
    tables = {
        name: torch.randn(shape[: 2 if name == "bias" else 3], generator=draw, dtype=torch.float64)
        for name in KINDS[kind]
    }
    return OffsetTerms(torch.arange(2 * REACH + 1), **tables)


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
    weights = replace(layers[0].weights, offset_terms=terms, score_scale=0.3, window=window)
    reads = [layer.attention_input[0] for layer in layers]
    of_texts = [offset_totals(read, weights) for read in reads]
    for head in range(N_HEADS):
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
    terms = OffsetTerms(torch.zeros(3, dtype=torch.long), bias=torch.ones(N_HEADS, 1).double())
    names = ("query_weight", "query_bias")
    nothing = {name: torch.zeros_like(getattr(layer.weights, name)) for name in names}
    totals = offset_totals(
        layer.attention_input[0], replace(layer.weights, offset_terms=terms, **nothing)
    )
    assert np.isnan(score_shares(_head_totals([totals], 0))).all()


def test_buckets_end_where_the_next_begins(traced_alone):
    terms = OffsetTerms(torch.tensor([4, 3, 3, 0, 1, 2, 2]))
    ends = bucket_ends(terms.bucket_of(torch.arange(-6, 7)), 6)
    assert ends == [(4, -6, -3), (3, -2, -1), (0, 0, 0), (1, 1, 1), (2, 2, 6)]


N_TEXTS, PARTS = 12, ("position", "query", "key", "content")
OFFSETS = {"gpt_neox": (-3, -1, 0), "deberta-v2": (-9, -3, 0, 2, 40)}
"""Offsets that are looked at: in one model half of the planes are not turned."""
CONTEXT = FitContext(seed=0, order=PRE_NORM, frequency_ranks={})
WORDS = ("the", "cat", "sat", "dog", "ran", "mat")


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
            made.made_by(made, store, CONTEXT).to_pandas()
            for made in (POSITION_KERNEL, SCORE_SHARE)
            if made.made_by
        )
    return kernels, shares


@cache
def shards(kind: str, n: int = N_TEXTS) -> tuple[Table, pd.DataFrame]:
    """A table and rows of its shards for texts of random words."""
    draw = np.random.default_rng(0)
    lines = [" ".join(draw.choice(WORDS, size=3 + seq % 7)) + "." for seq in range(n)]
    entries = tuple(Entry(f"line {seq}", (line,)) for seq, line in enumerate(lines))
    table = ROTARY_PLANE if kind == "gpt_neox" else OFFSET_TERM
    layers = layers_of(tiny_model(kind), tiny_sequences(kind, entries))
    filling = begin(table, layers[0].batch)
    for layer in layers:
        filling.add(layer)
    return table, filling.rows().to_pandas()


def redrawn(rows: pd.DataFrame, times: np.ndarray) -> pd.DataFrame:
    """Rows in which each sequence is as often as it was drawn, every copy a sequence of its own."""
    copies = enumerate(np.repeat(np.arange(len(times)), times))
    return pd.concat([rows[rows["seq"] == seq].assign(seq=copy) for copy, seq in copies])


@pytest.mark.parametrize("kind", OFFSETS)
def test_ends_are_percentiles_of_what_redrawn_sequences_make(kind, monkeypatch):
    monkeypatch.setattr(bootstrap, "RESAMPLES", 9)
    table, rows = shards(kind)
    draws = CONTEXT.redraws(np.arange(N_TEXTS)).weights.astype(int)
    found = fitted(table, rows, OFFSETS[kind])
    drawn = [fitted(table, redrawn(rows, times), OFFSETS[kind]) for times in draws]
    ends = {"kernel": ("low", "high")} | {part: (f"{part}_low", f"{part}_high") for part in PARTS}
    for frame, of_draws in zip(found, zip(*drawn, strict=True), strict=True):
        for name in ends.keys() & {*frame}:
            expected = np.quantile([of[name] for of in of_draws], [0.025, 0.975], axis=0)
            np.testing.assert_allclose(frame[[*ends[name]]].T, expected, rtol=1e-7, atol=1e-12)
    assert (found[0]["high"] - found[0]["low"] > 1e-6).all()


def test_few_texts_have_no_interval_and_blocks_count_as_texts():
    for n, block in ((9, int), (30, lambda seq: seq // 4)):
        for frame in fitted(*shards("gpt_neox", n), OFFSETS["gpt_neox"], block):
            ends = [name for name in frame if name.endswith(("low", "high"))]
            assert frame[ends].isna().all(axis=None)
            assert frame.drop(columns=[*ends, "head"]).notna().all(axis=None)
