"""Sums over rotary planes: of pairs one by one, of planted offsets, and as they are stored."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures.positions.score_share import position_kernel
from analysis.measures.positions.score_sums import plane_totals
from analysis.models.head_norm import HeadNormWeights
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights, ModelWeights
from analysis.statistics.positions.scores import (
    QUERY_KEY_CORRELATION,
    QUERY_KEY_PHASE,
    QUERY_KEY_ROTATION,
    QUERY_KEY_SINGULAR_VALUE,
    QUERY_KEY_WAVE,
    STATE_SPECTRUM,
)
from analysis.statistics.positions.sums import ROTARY_PLANE
from precompute.passes.filling import rows_of_weights
from tests.statistics.positions.slow_twins import planes_of, turned_score
from tests.statistics.positions.turned_layers import (
    Change,
    changed_layers,
    planted,
    stored,
    turning,
)
from tests.tiny import turned_positions
from tests.tracing import rows_of_table

KINDS = {
    "whole": {},
    "partial": {"planes": 1},
    "yarn": {"scaling": 1.3},
    "window": {"window": 3},
    "normed": {"query_norm": HeadNormWeights(torch.rand(4).double() + 0.5, 1e-6)},
}


def slow_totals(queries, keys, frequencies, pairs, *, scaling=1.0, score_scale=1.0):
    """The sums of one head, pair after pair; what is not turned comes last.

    Args:
        queries, keys: before they are turned, one list of coordinates per token.
        pairs: (i, j) of every query and key that are compared.
    """
    planes = len(frequencies)
    scores = {
        (i, j): score_scale * turned_score(queries[i], keys[j], frequencies, j - i, scaling=scaling)
        for i, j in pairs
    }
    rows = {i: [scores[pair] for pair in pairs if pair[0] == i] for i, _ in pairs}
    centred = {(i, j): scores[i, j] - math.fsum(rows[i]) / len(rows[i]) for i, j in pairs}
    totals = []
    for c, theta in enumerate(frequencies):
        names = ("query", "key", "query_square", "key_square", "turn", "query_turn", "key_turn")
        sums: dict[str, Any] = dict.fromkeys((*names, "score"), 0.0)
        for i, j in pairs:
            q = score_scale * scaling * planes_of(queries[i], planes)[c]
            k = scaling * planes_of(keys[j], planes)[c]
            turn, d = cmath.exp(-1j * theta * (j - i)), centred[i, j]
            sums["query"] += q
            sums["key"] += k
            sums["query_square"] += abs(q) ** 2
            sums["key_square"] += abs(k) ** 2
            sums["turn"] += d * turn
            sums["query_turn"] += d * q * turn
            sums["key_turn"] += d * k.conjugate() * turn
            sums["score"] += d * (q * k.conjugate() * turn).real
        totals.append(sums)
    rest = math.fsum(
        centred[i, j] * score_scale * a * b
        for i, j in pairs
        for a, b in zip(queries[i][2 * planes :], keys[j][2 * planes :], strict=True)
    )
    return totals, rest


def _case(traced_alone, kind):
    layer = traced_alone[1].layers[1]
    return layer.attention_input[0], turning(layer.weights, **KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_totals_are_those_of_pairs_one_by_one(traced_alone, kind):
    _assert_totals(*_case(traced_alone, kind))


def _assert_totals(read, weights):
    totals = plane_totals(read, weights)
    pairs = [tuple(pair) for pair in weights.pairs(len(read)).nonzero().tolist()]
    assert totals.n_pairs == len(pairs)
    for head in range(len(weights.query_weight)):
        expected, rest = slow_totals(
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


def test_a_layer_that_turns_nothing_is_no_case(traced_alone):
    layer = traced_alone[0].layers[0]
    with pytest.raises(ValueError, match="does not turn"):
        plane_totals(layer.attention_input[0], layer.weights)


def test_a_window_has_no_offsets_beyond_it(tiny, sequences):
    layers = changed_layers(tiny, sequences, lambda weights: turning(weights, window=2))
    rows = stored(QUERY_KEY_CORRELATION, layers)
    last = 0 if layers[0].weights.is_causal else 2
    assert sorted(set(rows["offset"])) == list(range(-2, last + 1))


@pytest.fixture
def planes(tiny, sequences) -> Callable[[Change], pd.DataFrame]:
    """Stored rows of layers with other rotations."""
    return lambda turned: stored(ROTARY_PLANE, changed_layers(tiny, sequences, turned))


@pytest.mark.parametrize("scaling", [1.0, 1.2])
def test_planted_offsets_are_found_in_the_view_and_by_the_kernel(planes, scaling):
    rotary = Rotary(torch.tensor([0.9, 0.05], dtype=torch.float64), scaling)
    planted_at = [-1, -3, 2]

    def turned(weights: LayerWeights) -> LayerWeights:
        return planted(weights, planted_at, rotary)

    view = _view(planes(turned))
    for head, offset in enumerate(planted_at, start=1):
        of_head = view[(view["layer"] == 1) & (view["head"] == head)]
        np.testing.assert_allclose(of_head["preferred_offset"], [offset] * 2, atol=5e-13)
        np.testing.assert_allclose(of_head["coherence"], [1, 1], rtol=1e-12)
        means = of_head["strength"].to_numpy() * np.exp(1j * of_head["phase"].to_numpy())
        offsets = np.arange(-10, 11)
        kernel = position_kernel(means, of_head["frequency"].to_numpy(), offsets)
        assert offsets[kernel.argmax()] == offset
        assert kernel.max() == pytest.approx(2 * scaling**2 / 2)  # two planes, d' = 4


def test_what_is_not_turned_stands_apart(planes):
    stored = planes(lambda weights: turning(weights, planes=1))
    assert set(stored["plane"]) == {0, 1}
    rest = stored[stored["plane"] == 0]
    assert (rest.drop(columns=["layer", "head", "plane", "n_pairs", "score"]) == 0).all(axis=None)
    assert (rest["score"] != 0).all()
    assert set(_view(stored)["plane"]) == {1}


def _view(stored: pd.DataFrame) -> pd.DataFrame:
    """The public view of stored rows."""
    [sql] = [view.sql for view in ROTARY_PLANE.views]
    with duckdb.connect() as store:
        store.execute("create schema stored")
        store.execute("create table stored.rotary_plane as from stored")
        return store.sql(f"from ({sql}) as planes order by layer, head, plane").df()


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


def test_a_layer_that_turns_nothing_has_no_planes(tiny, sequences):
    rows = rows_of_table(ROTARY_PLANE, tiny, sequences)
    assert rows.schema == ROTARY_PLANE.shard_schema
    assert rows.num_rows == 0
