"""Kernels and shares of scores: of all pairs written out, and absent where scores are equal."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from analysis.measures.positions.score_share import (
    HeadTotals,
    score_shares,
)
from analysis.measures.positions.score_sums import plane_totals
from tests.statistics.positions import slow_twins
from tests.statistics.positions.turned_layers import (
    turning,
)


def score_terms(queries, keys, frequencies, pairs):
    """Terms of each pair's score by position, query, key and content; four numbers per pair.

    Args:
        queries, keys: before they are turned, one list of coordinates per token, of all texts.
        pairs: (query, key, offset), of all texts.
    """
    planes = len(frequencies)
    means = [_mean(side, pairs, place) for place, side in enumerate((queries, keys))]
    terms = []
    for i, j, offset in pairs:
        sides = []
        for side, index, mean in ((queries, i, means[0]), (keys, j, means[1])):
            turned, rest = side[index][: 2 * planes], side[index][2 * planes :]
            deviation = [a - b for a, b in zip(turned, mean, strict=False)]
            sides.append((mean[: 2 * planes], deviation, rest))
        (mean_q, own_q, rest_q), (mean_k, own_k, rest_k) = sides
        unturned = math.fsum(a * b for a, b in zip(rest_q, rest_k, strict=True))
        terms.append(
            (
                slow_twins.turned_score(mean_q, mean_k, frequencies, offset),
                slow_twins.turned_score(own_q, mean_k, frequencies, offset),
                slow_twins.turned_score(mean_q, own_k, frequencies, offset),
                slow_twins.turned_score(own_q, own_k, frequencies, offset) + unturned,
            )
        )
    return terms


def _mean(side, pairs, place):
    columns = zip(*(side[pair[place]] for pair in pairs), strict=True)
    return [math.fsum(column) / len(pairs) for column in columns]


def _totals(totals, head):
    """Totals of one head, from one or several texts."""
    query, key, turn, query_turn, key_turn = (
        torch.stack([getattr(total, name)[head] for total in totals])
        .sum(dim=0, keepdim=True)
        .numpy()
        for name in HeadTotals._fields[:5]
    )
    whole = sum(float(total.score[head].sum() + total.unturned[head]) for total in totals)
    n_pairs = sum(float(total.n_pairs) for total in totals)
    of_pairs = np.array([whole]), np.array([n_pairs])
    return HeadTotals(query, key, turn, query_turn, key_turn, *of_pairs)


def _terms(reads, weights, head):
    """The four terms of every pair of all texts, and the row of each."""
    sides, pairs, rows = ([], []), [], []
    rotary = weights.rotary
    planes = 2 * len(rotary.frequencies)
    for read in reads:
        start = len(sides[0])
        for side, made in zip(sides, (weights.queries(read), weights.keys(read)), strict=True):
            scaled = made[head].clone()
            scaled[:, :planes] *= rotary.scaling
            side.extend((scaled * weights.score_scale**0.5).tolist())
        for i, j in weights.pairs(len(read)).nonzero().tolist():
            pairs.append((start + i, start + j, j - i))
            rows.append(start + i)
    return score_terms(*sides, rotary.frequencies.tolist(), pairs), rows


@pytest.mark.parametrize("kind", [{}, {"planes": 1}, {"scaling": 1.3}, {"window": 3}], ids=str)
def test_shares_are_those_of_four_terms_written_out_over_all_texts(traced_alone, kind):
    layers = [trace.layers[1] for trace in traced_alone[1:3]]
    weights = turning(layers[0].weights, **kind)
    reads = [layer.attention_input[0] for layer in layers]
    totals = [plane_totals(read, weights) for read in reads]
    for head in range(2):
        terms, rows = _terms(reads, weights, head)
        (shares,) = score_shares(_totals(totals, head))
        np.testing.assert_allclose(shares, slow_twins.score_shares(terms, rows), atol=1e-9)
        assert shares.sum() == pytest.approx(1, abs=1e-12)


def test_several_choices_of_texts_have_each_its_own_shares(traced_alone):
    layer = traced_alone[1].layers[0]
    totals = plane_totals(layer.attention_input[0], turning(layer.weights))
    alone = [_totals([totals], head) for head in range(3)]
    together = HeadTotals(*map(np.concatenate, zip(*alone, strict=True)))
    apart = np.concatenate([score_shares(of_head) for of_head in alone])
    np.testing.assert_array_equal(score_shares(together), apart)


def _shares(layer, weights):
    totals = plane_totals(layer.attention_input[0], weights)
    return np.concatenate([score_shares(_totals([totals], head)) for head in range(3)])


def test_equal_scores_have_no_shares(traced_alone):
    layer = traced_alone[0].layers[0]
    parts: dict[str, Any] = {
        name: torch.zeros_like(getattr(layer.weights, name))
        for name in ("query_weight", "query_bias")
    }
    assert np.isnan(_shares(layer, turning(layer.weights, **parts))).all()
