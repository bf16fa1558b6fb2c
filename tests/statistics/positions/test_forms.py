"""Query-key forms: factors, rotation and waves are the dense ones, and scores are the model's."""

from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import pytest
import torch

from analysis.errors import UserError
from analysis.measures.positions.position_spectrum import frequencies, wave_length
from analysis.measures.positions.query_key_form import (
    HeadRotation,
    QueryKeyFactors,
    query_key_rotation,
)
from analysis.measures.positions.query_key_wave import (
    cross_correlation,
    cross_covariance,
    phase_amplitudes,
    query_key_waves,
)
from analysis.statistics.positions.scores import QUERY_KEY_PHASE, QUERY_KEY_ROTATION, QUERY_KEY_WAVE
from precompute.corpora.sequence import Entry
from precompute.jobs.runner import run_local
from precompute.passes.filling import rows_of_weights
from precompute.run import run
from precompute.store.check import assert_parts_add_up
from tests.massive import misread_unproved
from tests.refusals import refused
from tests.small_store import request
from tests.statistics.fits import public, stored
from tests.tiny import every_family, tiny_sequences
from tests.tracing import layers_of


def dense_form(weights):
    """Per head the dense U, s, V of W_A, null spaces included."""
    queries, keys = (
        torch.cat([weight, bias[:, None]], dim=1).double().numpy()
        for weight, bias in (
            (weights.query_weight, weights.query_bias),
            (weights.key_weight, weights.key_bias),
        )
    )
    factors = map(np.linalg.svd, queries @ keys.swapaxes(1, 2))
    return [(left, s, right.T) for left, s, right in factors]


def nearest_rotation(left, values, right):
    """The orthogonal T with T u_j = v_j that is nearest the identity, as a whole matrix.

    Args:
        left, right: square orthogonal matrices as a dense decomposition gives them; columns beyond
            the values that count are any basis of the null spaces.
    """
    rank = int(np.sum(values > 1e-6 * values[0]))
    known = right[:, :rank] @ left[:, :rank].T
    left_null, right_null = left[:, rank:], right[:, rank:]
    # max over orthogonal M of tr(right_null M left_nullᵀ)
    a, _, b = np.linalg.svd(right_null.T @ left_null)
    return known + right_null @ a @ b @ left_null.T


def matrix_of(rotation: HeadRotation) -> np.ndarray:
    """T on all of affine space, put together from its parts."""
    waves = rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors
    turned = waves @ torch.diag(torch.exp(1j * rotation.phases).to(waves)) @ waves.mH
    assert turned.imag.abs().max() < 1e-6
    beside = torch.eye(len(rotation.basis)).to(rotation.basis) - rotation.basis @ rotation.basis.mT
    return (turned.real + beside).numpy()


@every_family
def test_it_is_the_dense_one_on_every_family(tiny):
    for weights in tiny.layers:
        for rotation, dense in zip(weights.query_key_rotation, dense_form(weights), strict=True):
            expected = nearest_rotation(*dense)
            np.testing.assert_allclose(matrix_of(rotation), expected, atol=1e-9)


def test_a_single_query_is_rotated_to_a_right_angle_and_beyond_it_reflected():
    query, beside = np.eye(5)[:, :1], np.eye(5)[:, 1:2]
    right, turns = np.pi / 2, {0.4: [-0.4, 0.4], 2: [0, np.pi]}
    for angle, phases in (turns | {right: [-right, right]}).items():
        key = np.cos(angle) * query + np.sin(angle) * beside
        factors = (torch.from_numpy(of)[None] for of in (query, np.ones(1), key))
        rotation = query_key_rotation(QueryKeyFactors(*factors))[0]
        np.testing.assert_allclose(rotation.phases, phases, atol=1e-9)


def test_waves_covariances_and_correlations_are_those_of_their_definitions(traced_alone):
    layer = traced_alone[0].layers[1]
    inputs, factors = layer.attention_input[0], layer.weights.query_key
    affine = torch.nn.functional.pad(inputs, (0, 1), value=1.0)
    sides = query_key_waves(inputs, factors)
    for side, directions in zip(sides, (factors.query, factors.key), strict=True):
        torch.testing.assert_close(side, affine @ directions)
    covariances, correlations = cross_covariance(*sides), cross_correlation(*sides)
    waves = (of.mT.flatten(0, 1).numpy() for of in (*sides, covariances, correlations))
    for query, key, covariance, correlation in zip(*waves, strict=True):
        products = np.correlate(key, query, mode="full")  # equations 11 and 12
        np.testing.assert_allclose(covariance, products, rtol=1e-9, atol=1e-9)
        centred = (products - products.mean()) / np.linalg.norm(query) / np.linalg.norm(key)
        np.testing.assert_allclose(correlation, centred, rtol=1e-9, atol=1e-9)


def test_both_sides_of_a_plane_have_one_amplitude(traced_alone):
    """|FT([X 1] w)| and |FT([X 1] T w)|, T being a whole matrix."""
    layer = traced_alone[0].layers[1]
    inputs = layer.attention_input[0]
    affine = np.hstack([inputs.numpy(), np.ones((len(inputs), 1))])
    matrices = [nearest_rotation(*factors) for factors in dense_form(layer.weights)]
    for rotation, matrix in zip(layer.weights.query_key_rotation, matrices, strict=True):
        amplitudes = phase_amplitudes(inputs, rotation)
        waves = (rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors).numpy()
        for plane, vector in enumerate(waves.T):
            for side in (affine @ vector, affine @ (matrix @ vector)):
                slow = np.abs(np.fft.fft(side))[: amplitudes.shape[1]]
                assert amplitudes[plane].tolist() == pytest.approx(slow, rel=1e-7, abs=1e-7)


LONG = (
    Entry("line 1", ("The cat sat, the dog ran, the cat ran, the dog sat, the cat sat.",)),
    Entry("line 2", ("Cat sat.",)),
    Entry("line 3", ("Dog, cat. The dog ran, ran, ran; the cat sat, the dog ran.",)),
)
"""Two texts that are long enough for a spectrum, and one that is not."""


def test_phases_and_waves_are_those_of_their_head_and_text(tiny, family):
    """In a causal model correlations are without later keys."""
    rotations = rows_of_weights(QUERY_KEY_ROTATION, tiny.weights).to_pandas()
    sequences, expected = tiny_sequences(family, LONG), {}
    layers = layers_of(tiny, sequences, exemplars=frozenset(range(len(LONG))))
    waves = dict(list(stored(QUERY_KEY_WAVE, layers).groupby(["layer", "head", "seq"])))
    longest = wave_length(max(map(len, sequences)))
    for layer, (place, sequence) in product(layers, enumerate(sequences)):
        weights, read = layer.weights, layer.trace.attention_input[place, : len(sequence)]
        sides = query_key_waves(read, weights.query_key)
        correlations = cross_correlation(*sides)
        seen = len(sequence) if weights.is_causal else 2 * len(sequence) - 1
        for head, rotation in enumerate(weights.query_key_rotation):
            rows = waves[weights.number, head + 1, sequence.index]
            for name, wave in zip(("query", "key"), sides, strict=True):
                found = np.stack(rows[name].tolist(), axis=1)
                np.testing.assert_allclose(found, wave[head], rtol=1e-4, atol=1e-5)
            found = np.stack(rows["correlation"].tolist(), axis=1)
            np.testing.assert_allclose(found, correlations[head, :seen], atol=1e-5)
            of_head = rotations[rotations["layer"] == weights.number]
            of_head = of_head[of_head["head"] == head + 1]
            assert of_head["phase"].tolist() == rotation.phases.tolist()
            if wave_length(len(sequence)) == longest:
                amplitudes = phase_amplitudes(read[:longest], rotation)
                expected.setdefault((weights.number, head + 1), []).append(amplitudes.numpy())
    assert {len(of_texts) for of_texts in expected.values()} == {2}
    spectra = public(QUERY_KEY_PHASE, stored(QUERY_KEY_PHASE, layers), "query_key_phase")
    for place, of_head in spectra.groupby(["layer", "head", "side"]):
        found = of_head.pivot(index="phase", columns="frequency", values="amplitude")
        assert list(found.columns) == list(frequencies(longest))
        means = np.mean(expected[place[:2]], axis=0)
        np.testing.assert_allclose(found, means, rtol=1e-4, atol=1e-5)


def heads_swapped(layer):
    """Query and key of the layer's second head in each other's place."""
    parts = {}
    for kind in ("weight", "bias"):
        query, key = (getattr(layer, f"{side}_{kind}").clone() for side in ("query", "key"))
        query[1], key[1] = key[1].clone(), query[1].clone()
        parts |= {f"query_{kind}": query, f"key_{kind}": key}
    return replace(layer, **parts)


def test_parts_that_miss_the_model_are_not_published_and_told_of_a_file(tmp_path, monkeypatch):
    asked = request(tmp_path, statistics=["query_key_error"])
    run(asked, run_local)
    for part, error in {"score_error": 0.01, "trace_error": "'nan'", "attention_error": 1}.items():
        with duckdb.connect(str(asked.output)) as store:
            assert_parts_add_up(store)
            store.begin()
            store.execute(f"update stored.query_key_error set {part} = {error} where seq = 1")
            assert refused(UserError, assert_parts_add_up, store).startswith(
                "Sequence 1, layer 1: the parts of the query-key form miss"
            )
            store.rollback()
    misread_unproved(monkeypatch, heads_swapped)
    again = replace(asked, output=tmp_path / "misread" / "tiny.duckdb")
    with pytest.raises(UserError, match="layer 2: the parts of the query-key form miss the model"):
        run(again, run_local)
    assert not again.output.exists()
