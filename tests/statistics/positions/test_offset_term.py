"""Sums over offset terms, against explicit pairs."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.measures.positions.score_share import TermTotals, score_shares
from analysis.measures.positions.score_sums import bucket_ends, offset_totals
from analysis.models.offset_terms import OffsetTerms
from tests.statistics.positions import slow_twins

KINDS = {
    "all": ("bias", "of_queries", "of_keys"),
    "bias": ("bias",),
    "queries": ("of_queries",),
    "keys": ("of_keys",),
}


HEADS, REACH = 3, 4


def _dot(one, other):
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def score_terms(query, key, offset, tables, *, scale):
    """Terms of one pair's score: content, query, key and bias.

    Args:
        tables: vectors compared with queries and with keys, and the bias, each by offset.
    """
    of_queries, of_keys, bias = tables
    parts = (_dot(query, key), _dot(query, of_queries[offset]), _dot(key, of_keys[offset]))
    return *(scale * part for part in parts), scale * bias[offset]


def offset_kernel(queries, keys, pairs, offset, tables, *, scale):
    """E q · P_t + E k · R_t + b_t, means over pairs (i, j)."""
    of_queries, of_keys, bias = tables
    means = [
        [math.fsum(column) / len(pairs) for column in zip(*side, strict=True)]
        for side in ([queries[i] for i, _ in pairs], [keys[j] for _, j in pairs])
    ]
    return scale * (
        _dot(means[0], of_queries[offset]) + _dot(means[1], of_keys[offset]) + bias[offset]
    )


def four_terms(queries, keys, pairs, tables, *, scale):
    """Terms of each pair's score by position, query, key and content; four numbers per pair.

    Args:
        queries, keys: one list of coordinates per token, of all texts.
        pairs: (query, key, offset), of all texts.
    """
    bare = [(i, j) for i, j, _ in pairs]
    rows = []
    for i, j, offset in pairs:
        content, of_query, of_key, bias = score_terms(
            queries[i], keys[j], offset, tables, scale=scale
        )
        position = offset_kernel(queries, keys, bare, offset, tables, scale=scale)
        mean_query = offset_kernel(queries, keys, bare, offset, _only(tables, 0), scale=scale)
        mean_key = offset_kernel(queries, keys, bare, offset, _only(tables, 1), scale=scale)
        assert math.isclose(position, mean_query + mean_key + bias, abs_tol=1e-9)
        rows.append((position, of_query - mean_query, of_key - mean_key, content))
    return rows


def _only(tables, place):
    """The tables with all but one replaced by 0."""
    of_queries, of_keys, bias = tables
    nothing = {offset: [0.0] * len(row) for offset, row in of_queries.items()}
    return (
        of_queries if place == 0 else nothing,
        of_keys if place == 1 else nothing,
        dict.fromkeys(bias, 0.0),
    )


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


def _tables(terms, head):
    """Tables of one head by offset, in the form that the twin takes."""
    tables = []
    for name in ("of_queries", "of_keys", "bias"):
        table = getattr(terms, name)
        nothing = 0.0 if name == "bias" else [0.0] * 4
        tables.append(
            {
                offset: nothing
                if table is None
                else table[head, int(terms.bucket_of(torch.tensor(offset)))].tolist()
                for offset in range(-40, 41)
            }
        )
    return tables


def _sides(reads, weights, head):
    """Queries and keys of one head in all texts, its pairs with their offsets, and their rows."""
    sides, pairs, rows = ([], []), [], []
    for read in reads:
        start = len(sides[0])
        for side, made in zip(sides, (weights.queries(read), weights.keys(read)), strict=True):
            side.extend(made[head].tolist())
        for i, j in weights.pairs(len(read)).nonzero().tolist():
            pairs.append((start + i, start + j, j - i))
            rows.append(start + i)
    return *sides, pairs, rows


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
        queries, keys, pairs, rows = _sides(reads, weights, head)
        tables, totals = _tables(terms, head), _head_totals(of_texts, head)
        bare = [(i, j) for i, j, _ in pairs]
        (kernel,) = (totals.query + totals.key + totals.bias) / totals.n_pairs
        for offset in range(-REACH, REACH + 1):
            expected = offset_kernel(queries, keys, bare, offset, tables, scale=0.3)
            assert kernel[offset + REACH] == pytest.approx(expected, abs=1e-12)
        written = four_terms(queries, keys, pairs, tables, scale=0.3)
        (shares,) = score_shares(totals)
        np.testing.assert_allclose(shares, slow_twins.score_shares(written, rows), atol=1e-9)
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


def test_a_layer_without_terms_is_no_error_of_numbers(traced_alone):
    layer = traced_alone[0].layers[0]
    with pytest.raises(ValueError, match="have no terms of offsets"):
        offset_totals(layer.attention_input[0], layer.weights)


def test_buckets_end_where_the_next_begins(traced_alone):
    terms = OffsetTerms(torch.tensor([4, 3, 3, 0, 1, 2, 2]))
    ends = bucket_ends(terms.bucket_of(torch.arange(-6, 7)), 6)
    assert ends == [(4, -6, -3), (3, -2, -1), (0, 0, 0), (1, 1, 1), (2, 2, 6)]
