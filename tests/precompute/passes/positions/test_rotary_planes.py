"""Stored rotary planes add up over any division of the corpus, and give preferred offsets."""

from collections.abc import Callable
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from analysis.measures.positions.score_share import position_kernel as kernel_of
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights, ModelWeights, Trace
from analysis.statistics.positions import rotary_plane as table
from precompute.jobs.shards import as_stored, counted_from_1, merged
from precompute.passes.batch import Batch
from precompute.passes.positions import (
    query_key_correlation,
    query_key_phase,
    query_key_rotation,
    query_key_singular_value,
    query_key_wave,
    rotary_plane,
    score_share,
    state_spectrum,
)
from tests.analysis.measures.positions.turned.layers import both_ways, planted, turning
from tests.precompute.passes.positions.fits import CONTEXT, have_shards

pytestmark = both_ways
Turned = Callable[[LayerWeights], LayerWeights]
KINDS = {"whole": {}, "partial": {"planes": 1}, "yarn": {"scaling": 1.3}, "window": {"window": 3}}


def _with(trace: Trace, turned: Turned) -> Trace:
    layers = (replace(layer, weights=turned(layer.weights)) for layer in trace.layers)
    return replace(trace, layers=tuple(layers))


def _stored(statistic, tables: list[pa.Table]) -> pd.DataFrame:
    frame = as_stored(statistic.TABLE, merged(statistic.TABLE, tables)).to_pandas()
    return frame.sort_values([c.name for c in statistic.TABLE.key], ignore_index=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statistic", [rotary_plane, query_key_correlation], ids=["planes", "sums"])
def test_padding_batching_and_order_change_no_number(
    statistic, kind, traced, traced_alone, sequences
):
    def turned(weights):
        return turning(weights, **KINDS[kind])

    together = _stored(statistic, [statistic.totals(Batch(sequences, _with(traced, turned)))])
    apart = [
        statistic.totals(Batch((sequence,), _with(trace, turned)))
        for sequence, trace in zip(sequences, traced_alone, strict=True)
    ]
    assert len(together)
    pd.testing.assert_frame_equal(together, _stored(statistic, apart), rtol=1e-9, atol=1e-12)
    pd.testing.assert_frame_equal(
        _stored(statistic, apart), _stored(statistic, apart[::-1]), rtol=1e-12
    )


def test_a_window_has_no_offsets_beyond_it(traced, sequences):
    batch = Batch(sequences, _with(traced, lambda weights: turning(weights, window=2)))
    rows = query_key_correlation.totals(batch).to_pandas()
    last = 0 if batch.trace.layers[0].weights.is_causal else 2
    assert sorted(set(rows["offset"])) == list(range(-2, last + 1))


@pytest.fixture
def planes(traced, sequences) -> Callable[[Turned], pd.DataFrame]:
    """Stored rows of layers with other rotations."""
    return lambda turned: _stored(
        rotary_plane, [rotary_plane.totals(Batch(sequences, _with(traced, turned)))]
    )


@pytest.mark.parametrize("scaling", [1.0, 1.2])
def test_planted_offsets_are_found_in_the_view_and_by_the_kernel(planes, shares, scaling):
    rotary = Rotary(torch.tensor([0.9, 0.05], dtype=torch.float64), scaling)
    planted_at = [-1, -3, 2]

    def turned(weights: LayerWeights) -> LayerWeights:
        return planted(weights, planted_at, rotary)

    view = _view(planes(turned))
    for head, offset in enumerate(planted_at):
        of_head = view[(view["layer"] == 0) & (view["head"] == head)]
        np.testing.assert_allclose(of_head["preferred_offset"], [offset] * 2, atol=5e-13)
        np.testing.assert_allclose(of_head["coherence"], [1, 1], rtol=1e-12)
        means = of_head["strength"].to_numpy() * np.exp(1j * of_head["phase"].to_numpy())
        offsets = np.arange(-10, 11)
        kernel = kernel_of(means, of_head["frequency"].to_numpy(), offsets)
        assert offsets[kernel.argmax()] == offset
        assert kernel.max() == pytest.approx(2 * scaling**2 / 2)  # two planes, d' = 4
    parts = shares(turned)[["position", "content"]]
    np.testing.assert_allclose(parts, [[1, 0]] * len(parts), atol=1e-9)


def test_what_is_not_turned_stands_apart(planes):
    stored = planes(lambda weights: turning(weights, planes=1))
    assert set(stored["plane"]) == {0, 1}
    rest = stored[stored["plane"] == 0]
    assert (rest.drop(columns=["layer", "head", "plane", "n_pairs", "score"]) == 0).all(axis=None)
    assert (rest["score"] != 0).all()
    assert set(_view(stored)["plane"]) == {1}


def test_the_view_says_of_every_plane_what_its_sums_say(planes):
    stored = planes(turning)
    turned, view = stored[stored["plane"] > 0].reset_index(drop=True), _view(stored)
    query, key = (
        turned[f"{side}_real"] + 1j * turned[f"{side}_imaginary"] for side in ("query", "key")
    )
    means = query * np.conj(key) / turned["n_pairs"] ** 2
    np.testing.assert_allclose(view["strength"] * np.exp(1j * view["phase"]), means, rtol=1e-9)
    np.testing.assert_allclose(view["preferred_offset"], np.angle(means) / turned["frequency"])
    squares = turned["query_square"] * turned["key_square"] / turned["n_pairs"] ** 2
    np.testing.assert_allclose(view["coherence"], abs(means) / np.sqrt(squares))


def _view(stored: pd.DataFrame) -> pd.DataFrame:
    """The public view of stored rows."""
    [sql] = [view.sql for view in table.TABLE.views]
    with duckdb.connect() as store:
        store.execute("create schema stored")
        store.execute("create table stored.rotary_plane as from stored")
        return store.sql(f"from ({sql}) as planes order by layer, head, plane").df()


@pytest.fixture
def shares(traced, sequences) -> Callable[[Turned], pd.DataFrame]:
    """Shares of layers with other rotations."""

    def of(turned: Turned) -> pd.DataFrame:
        rows = rotary_plane.totals(Batch(sequences, _with(traced, turned)))
        with duckdb.connect() as store:
            seqs = [sequence.index for sequence in sequences]
            blocks = pd.DataFrame({"seq": seqs, "block": range(len(seqs))})
            have_shards(store, blocks=blocks, rotary_plane=counted_from_1(rows))
            return score_share.fit(store, CONTEXT).to_pandas()

    return of


def test_directions_are_asked_of_no_layer_that_turns(tiny, traced, sequences):
    turned = ModelWeights(tuple(map(turning, tiny.layers)), None)
    for statistic in (query_key_rotation, query_key_singular_value):
        assert statistic.weights(turned).num_rows == 0
    kept = frozenset(sequence.index for sequence in sequences)
    batch = Batch(sequences, _with(traced, turning), exemplars=kept)
    for statistic in (query_key_wave, query_key_phase, state_spectrum):
        rows = statistic.totals(batch)
        assert rows.schema == statistic.TABLE.shard_schema
        assert rows.num_rows == 0
        assert statistic.totals(replace(batch, trace=traced)).num_rows > 0


def test_a_layer_that_turns_nothing_has_no_planes(traced, sequences):
    rows = rotary_plane.totals(Batch(sequences, traced))
    assert rows.schema == rotary_plane.TABLE.shard_schema
    assert rows.num_rows == 0
