import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.measures.positions.rotary_plane import plane_totals, planes_of, turns
from analysis.models.head_norm import HeadNormWeights
from analysis.models.rotary import Rotary
from tests.analysis.measures.positions.turned.layers import both_ways, planted, turning
from tests.reference.positions import rotary_plane as reference
from tests.tiny import turned_positions

KINDS = {
    "whole": {},
    "partial": {"planes": 1},
    "yarn": {"scaling": 1.3},
    "window": {"window": 3},
    "normed": {"query_norm": HeadNormWeights(torch.rand(4).double() + 0.5, 1e-6)},
}


def _case(traced_alone, kind):
    layer = traced_alone[1].layers[1]
    return layer.attention_input[0], turning(layer.weights, **KINDS[kind])


@both_ways
@pytest.mark.parametrize("kind", KINDS)
def test_totals_are_those_of_pairs_one_by_one(traced_alone, kind):
    _assert_totals(*_case(traced_alone, kind))


def _assert_totals(read, weights):
    totals = plane_totals(read, weights)
    pairs = [tuple(pair) for pair in weights.pairs(len(read)).nonzero().tolist()]
    assert totals.n_pairs == len(pairs)
    for head in range(len(weights.query_weight)):
        expected, rest = reference.plane_totals(
            weights.queries(read)[head].tolist(),
            weights.keys(read)[head].tolist(),
            weights.rotary.frequencies.tolist(),
            pairs,
            scaling=weights.rotary.scaling,
            score_scale=weights.score_scale,
        )
        for plane, sums in enumerate(expected):
            for name, value in sums.items():
                got = complex(getattr(totals, name)[head, plane])
                assert got == pytest.approx(value, rel=1e-9, abs=1e-9), name
        assert totals.unturned[head].item() == pytest.approx(rest, rel=1e-9, abs=1e-9)


@turned_positions
def test_totals_of_models_that_turn_are_those_of_pairs_one_by_one(traced_alone):
    for layer in traced_alone[1].layers:
        _assert_totals(layer.attention_input[0], layer.weights)


@both_ways
@pytest.mark.parametrize("kind", KINDS)
def test_what_planes_and_rest_give_is_the_whole_variance(traced_alone, kind):
    read, weights = _case(traced_alone, kind)
    totals = plane_totals(read, weights)
    queries, keys = weights.compared(read)
    scores = queries @ keys.mT * weights.score_scale
    seen = weights.pairs(len(read))
    rows = [[row[visible] for row, visible in zip(of, seen, strict=True)] for of in scores]
    expected = [torch.stack([row.var(correction=0) * len(row) for row in of]).sum() for of in rows]
    variance = totals.score.sum(dim=1) + totals.unturned
    torch.testing.assert_close(variance, torch.stack(expected).to(variance))


@both_ways
def test_scores_are_sums_over_planes(traced_alone):
    for kind in KINDS:
        read, weights = _case(traced_alone, kind)
        queries, keys = weights.compared(read)
        sides = weights.queries(read)[0].tolist(), weights.keys(read)[0].tolist()
        rotary = weights.rotary
        for i in range(len(read)):
            for j in range(len(read)):
                expected = reference.score(
                    sides[0][i],
                    sides[1][j],
                    rotary.frequencies.tolist(),
                    j - i,
                    scaling=rotary.scaling,
                )
                assert (queries[0, i] @ keys[0, j]).item() == pytest.approx(expected, abs=1e-9)


@both_ways
def test_planes_and_turns_are_complex_numbers(traced_alone):
    read, weights = _case(traced_alone, "whole")
    queries, rotary = weights.queries(read), weights.rotary
    planes = planes_of(queries, rotary)[0, 2]
    assert planes.tolist() == reference.planes_of(queries[0, 2].tolist(), 2)
    expected = reference.turns(4, rotary.frequencies.tolist())
    np.testing.assert_allclose(turns(4, rotary, read), expected, atol=1e-12)


@both_ways
@pytest.mark.parametrize("scaling", [1.0, 1.25])
def test_planted_offsets_are_found_exactly(traced_alone, scaling):
    layer = traced_alone[0].layers[0]
    rotary = Rotary(torch.tensor([0.9, 0.05], dtype=torch.float64), scaling)
    offsets = [-1, -3, 2]
    weights = planted(layer.weights, offsets, rotary)
    totals = plane_totals(layer.attention_input[0], weights)
    means = (totals.query * totals.key.conj()) / totals.n_pairs**2
    for head, offset in enumerate(offsets):
        phases = means[head].angle()
        np.testing.assert_allclose(phases / rotary.frequencies, [offset] * 2, atol=5e-13)
        strength = weights.score_scale * scaling**2
        np.testing.assert_allclose(means[head].abs(), [strength] * 2, rtol=1e-12)
        squares = totals.query_square[head] * totals.key_square[head]
        coherence = means[head].abs() * totals.n_pairs / squares.sqrt()
        np.testing.assert_allclose(coherence, [1, 1], rtol=1e-12)


@both_ways
def test_coherence_is_at_most_1(traced_alone):
    for kind in KINDS:
        totals = plane_totals(*_case(traced_alone, kind))
        means = (totals.query * totals.key.conj()).abs()
        assert (means <= (totals.query_square * totals.key_square).sqrt() * totals.n_pairs).all()


@both_ways
def test_a_layer_that_turns_nothing_is_no_case(traced_alone):
    layer = traced_alone[0].layers[0]
    with pytest.raises(ValueError, match="does not turn"):
        plane_totals(layer.attention_input[0], layer.weights)


@both_ways
def test_the_scale_of_scores_counts_once_and_that_of_turned_sides_twice(traced_alone):
    read, weights = _case(traced_alone, "whole")
    plain = plane_totals(read, weights)
    doubled = plane_totals(read, replace(weights, score_scale=2 * weights.score_scale))
    scaled = plane_totals(read, turning(weights, scaling=math.sqrt(2)))
    for other in (doubled, scaled):
        torch.testing.assert_close(other.query * other.key, 2 * plain.query * plain.key)
        torch.testing.assert_close(other.score, 4 * plain.score)
