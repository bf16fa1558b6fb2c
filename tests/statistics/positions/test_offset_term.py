"""Sums over offset terms, against explicit pairs."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.measures.positions.score_share import TermTotals, score_shares
from analysis.measures.positions.score_sums import bucket_ends, offset_totals
from analysis.models.offset_terms import OffsetTerms

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


def test_a_layer_without_terms_is_no_error_of_numbers(traced_alone):
    layer = traced_alone[0].layers[0]
    with pytest.raises(ValueError, match="have no terms of offsets"):
        offset_totals(layer.attention_input[0], layer.weights)


def test_buckets_end_where_the_next_begins(traced_alone):
    terms = OffsetTerms(torch.tensor([4, 3, 3, 0, 1, 2, 2]))
    ends = bucket_ends(terms.bucket_of(torch.arange(-6, 7)), 6)
    assert ends == [(4, -6, -3), (3, -2, -1), (0, 0, 0), (1, 1, 1), (2, 2, 6)]
