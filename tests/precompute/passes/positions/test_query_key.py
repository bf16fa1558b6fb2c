"""Stored numbers on positions, queries and keys agree with the measures on the model itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures.positions.position_spectrum import frequencies, wave_length
from analysis.measures.positions.query_key_wave import (
    cross_correlation,
    phase_amplitudes,
    query_key_waves,
)
from analysis.models.trace import LayerTrace, ModelWeights
from analysis.statistics.positions import position_spectrum as embedding_spectrum
from analysis.statistics.positions import position_spectrum as position_variance
from analysis.statistics.positions import query_key_error, query_key_phase, query_key_wave
from analysis.statistics.positions import query_key_phase as query_key_rotation
from analysis.statistics.positions import query_key_wave as query_key_singular_value
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.passes.batch import Batch
from precompute.passes.positions import embedding_spectrum as embedding_spectrum_pass
from precompute.passes.positions import position_variance as position_variance_pass
from precompute.passes.positions import query_key_phase as query_key_phase_pass
from precompute.passes.positions import query_key_wave as query_key_wave_pass
from precompute.run import run
from tests.reference.positions import embedding_spectrum as reference
from tests.reference.positions import position_variance as reference_variance
from tests.small_store import LONGER_TEXT
from tests.small_store import request as asked_for

STATISTICS = [
    "embedding_spectrum",
    "position_variance",
    "query_key_singular_value",
    "query_key_rotation",
    "query_key_error",
    "query_key_phase",
    "query_key_wave",
]
TEXT = LONGER_TEXT[: LONGER_TEXT.index("\nCat sat, the cat.\n")]


@pytest.fixture(scope="module")
def finished(tmp_path_factory, family):
    folder = tmp_path_factory.mktemp(f"positions-{family}")
    asked_for(folder, family)
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    asked = asked_for(folder, family, statistics=STATISTICS)
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def model(finished):
    return load_model(finished[0].model, device="cpu")


@pytest.fixture(scope="module")
def alone(finished, model) -> dict[int, tuple[LayerTrace, ...]]:
    """The layers of every exemplar, each traced by itself."""
    plan = finished[1]
    sequences = [sequence for sequence in plan.corpus if sequence.index in plan.exemplars]
    return {sequence.index: model.trace([sequence]).layers for sequence in sequences}


def test_spectra_of_embeddings_are_stored_with_their_control(store, model):
    embedding = model.weights.position_embedding
    spectra = embedding_spectrum.spectra(store).set_index("control").sort_index()
    kept = spectra.loc["kept"]
    assert list(kept["frequency"]) == list(frequencies(len(embedding)))
    for k in (0, 1, 7):
        expected = reference.of_frequency(embedding.tolist(), k)
        assert kept.iloc[k][["mean", "q25", "q75", "max"]].tolist() == pytest.approx(expected)
    assert len(spectra.loc["permuted"]) == len(kept)


def test_components_of_embeddings_add_up(store, model):
    shares = position_variance.cumulative(store)
    expected = reference_variance.shares(model.weights.position_embedding.tolist())
    assert shares["ratio"].tolist() == pytest.approx(expected, abs=1e-9)
    assert shares["cumulative"].tolist() == pytest.approx(np.cumsum(expected))
    assert shares["component"].tolist() == list(range(1, len(expected) + 1))


def test_values_and_phases_are_those_of_the_head(store, model):
    weights = model.layers[1]
    values = query_key_singular_value.of_head(store, layer=2, head=3)
    assert values["value"].tolist() == weights.query_key.values[2].tolist()
    assert values["rank"].tolist() == list(range(1, len(values) + 1))
    phases = query_key_rotation.of_head(store, layer=2, head=3)
    assert phases["phase"].tolist() == weights.query_key_rotation[2].phases.tolist()


def test_amplitudes_are_means_over_the_longest_exemplars_on_both_sides(store, alone):
    lengths = [wave_length(layers[1].input.shape[1]) for layers in alone.values()]
    longest = [
        phase_amplitudes(
            layers[1].attention_input[0, : max(lengths)], layers[1].weights.query_key_rotation[2]
        )
        for layers, length in zip(alone.values(), lengths, strict=True)
        if length == max(lengths)
    ]
    expected = torch.stack(longest).mean(dim=0).numpy()
    phases = query_key_phase.of_head(store, layer=2, head=3)
    assert max(lengths) >= 16
    assert set(phases["length"]) == {max(lengths)}
    assert set(phases["n_sequences"]) == {len(longest)}
    amplitudes = phases.pivot(index="plane", columns="frequency", values="amplitude")
    assert list(amplitudes.columns) == list(frequencies(max(lengths)))
    np.testing.assert_allclose(amplitudes, expected, rtol=1e-4, atol=1e-5)
    view = store.execute("from query_key_phase where layer = 2 and head = 3").df()
    assert set(view["side"]) == {"query", "key"}
    order = ["phase", "frequency"]
    for _, side in view.groupby("side"):
        pd.testing.assert_frame_equal(
            side.sort_values(order)[[*order, "amplitude"]].reset_index(drop=True),
            phases.sort_values(order)[[*order, "amplitude"]].reset_index(drop=True),
        )


def test_waves_are_those_of_the_first_directions(store, alone):
    for seq, layers in alone.items():
        layer, n_tokens = layers[0], layers[0].input.shape[1]
        queries, keys = query_key_waves(layer.attention_input[0], layer.weights.query_key)
        rows = query_key_wave.of_head(store, layer=1, head=2, seq=seq)
        for name, expected in (("query", queries), ("key", keys)):
            waves = rows.pivot(index="pos", columns="rank", values=name)
            assert list(waves.index) == list(range(n_tokens))
            np.testing.assert_allclose(waves, expected[1], rtol=1e-4, atol=1e-5)


def _expected_correlations(layer: LayerTrace) -> pd.DataFrame:
    """Correlations of head 2 by offset, without later keys in a causal model."""
    queries, keys = query_key_waves(layer.attention_input[0], layer.weights.query_key)
    correlation = cross_correlation(queries[1], keys[1]).numpy()
    n = len(layer.attention_input[0])
    frame = pd.DataFrame(
        correlation, index=range(1 - n, n), columns=range(1, correlation.shape[1] + 1)
    )
    return frame[frame.index <= 0] if layer.weights.is_causal else frame


def test_correlations_lie_at_their_offsets_alone_and_in_the_mean(store, alone):
    expected = {seq: _expected_correlations(layers[0]) for seq, layers in alone.items()}
    for seq, frame in expected.items():
        rows = query_key_wave.correlations(store, layer=1, head=2, seq=seq)
        by_offset = rows.pivot(index="offset", columns="rank", values="correlation")
        assert list(by_offset.index) == list(frame.index)
        np.testing.assert_allclose(by_offset, frame, atol=1e-5)
    mean = pd.concat(expected.values()).groupby(level=0).mean()
    rows = query_key_wave.correlations(store, layer=1, head=2, seq=None)
    by_offset = rows.pivot(index="offset", columns="rank", values="correlation")
    assert list(by_offset.index) == list(mean.index)
    np.testing.assert_allclose(by_offset, mean, atol=1e-5)


def test_the_worst_error_of_every_layer_is_small_and_none_is_missing(store, alone):
    errors = query_key_error.by_layer(store)
    assert errors["layer"].tolist() == [1, 2]
    assert set(errors["n_sequences"]) == {len(alone)}
    assert errors[["score_error", "trace_error", "attention_error"]].to_numpy().max() < 1e-5


def test_a_short_text_has_waves_and_no_spectrum(store, alone):
    lengths = {seq: layers[0].input.shape[1] for seq, layers in alone.items()}
    short = {seq for seq, length in lengths.items() if length < 16}
    kept = {seq for (seq,) in store.execute("select seq from sequence_query_key_phase").fetchall()}
    assert short
    assert kept == set(lengths) - short


@pytest.mark.parametrize("statistic", [embedding_spectrum_pass, position_variance_pass])
def test_a_model_that_learns_no_position_embeddings_has_no_rows(statistic, tiny):
    table = statistic.weights(ModelWeights(tiny.layers, None))
    assert table.schema == statistic.TABLE.shard_schema
    assert table.num_rows == 0


def test_directions_that_compare_nothing_have_no_wave(tiny, traced_alone, sequences):
    longest = max(range(len(sequences)), key=lambda row: len(sequences[row]))
    layer = traced_alone[longest].layers[0]
    parts = {}
    for name in ("query_weight", "query_bias"):
        parts[name] = getattr(layer.weights, name).clone()
        parts[name][1, ..., 1:] = 0
        parts[name][2] = 0
    blind = replace(layer, weights=replace(layer.weights, **parts))
    trace = replace(traced_alone[longest], layers=(blind,))
    only = sequences[longest]
    batch = Batch((only,), trace, exemplars=frozenset({only.index}))
    width = layer.weights.query_weight.shape[-1]
    waves = query_key_wave_pass.totals(batch).to_pandas().groupby("head")["rank"].agg(list)
    assert waves.to_dict() == {0: list(range(1, width + 1)), 1: [1]}
    phases = query_key_phase_pass.totals(batch).to_pandas()
    planes = {
        head: len(rotation.phases) for head, rotation in enumerate(blind.weights.query_key_rotation)
    }
    assert phases.groupby("head").size().to_dict() == {h: n for h, n in planes.items() if n}
    assert planes[1] == 2
    assert planes[2] == 0
