"""Sums over rotary planes: planted offsets, blocks of queries, and layers that turn nothing."""

from collections.abc import Callable
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures.positions import score_sums
from analysis.measures.positions.score_share import HeadTotals, position_kernel, score_shares
from analysis.measures.positions.score_sums import plane_totals
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
from tests.statistics.positions.turned_layers import (
    Change,
    changed_layers,
    planted,
    stored,
    turning,
)
from tests.tracing import rows_of_table


def test_a_layer_that_turns_nothing_is_no_case(traced_alone):
    layer = traced_alone[0].layers[0]
    with pytest.raises(ValueError, match="does not turn"):
        plane_totals(layer.attention_input[0], layer.weights)


def test_equal_scores_have_no_shares():
    nothing = {name: np.zeros((2, 3)) for name in HeadTotals._fields[:5]}
    totals = HeadTotals(**nothing, whole=np.array([0.0, 1e-9]), n_pairs=np.ones(2))
    assert np.isnan(score_shares(totals)).all(axis=1).tolist() == [True, False]


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
    [sql] = [view.sql for view in ROTARY_PLANE.all_views]
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


@pytest.mark.parametrize("window", [None, 0, 3])
def test_the_span_of_a_block_holds_every_key_that_is_seen_and_no_more(tiny, monkeypatch, window):
    monkeypatch.setattr(score_sums, "_SCORES", 3 * 4 * 11)
    weights = replace(tiny.layers[0], window=window)
    whole = weights.pairs(11)
    queries = []
    for rows, span, seen in score_sums.query_blocks(weights, 11):
        queries += range(11)[rows]
        assert torch.equal(seen, whole[rows, span])
        assert seen.sum() == whole[rows].sum()
        assert seen.any(dim=0).all()
    assert queries == list(range(11))
