"""Query-key forms: factors, rotation and waves are the dense ones, and scores are the model's."""

from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import UserError
from analysis.measures.positions.position_spectrum import frequencies, wave_length
from analysis.measures.positions.query_key_error import ERRORS, relative_errors
from analysis.measures.positions.query_key_form import (
    HeadRotation,
    QueryKeyFactors,
    query_key_factors,
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
from tests.precompute.corpora.tiny import unhurried
from tests.refusals import refused
from tests.small_store import request
from tests.statistics.positions.turned_layers import changed_layers, public, stored
from tests.tiny import added_positions, every_family, every_model, tiny_sequences
from tests.tracing import layers_of


def dense_form(weights):
    """Per head W_A itself and its dense U, s, V, null spaces included."""
    sides = (
        torch.cat([weight, bias[:, None]], dim=1).double().numpy()
        for weight, bias in (
            (weights.query_weight, weights.query_bias),
            (weights.key_weight, weights.key_bias),
        )
    )
    products = [queries @ keys.T for queries, keys in zip(*sides, strict=True)]
    factors = [np.linalg.svd(product) for product in products]
    return [(a, left, s, right.T) for a, (left, s, right) in zip(products, factors, strict=True)]


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


SEEDS = st.integers(0, 2**32 - 1)


def matrix_of(rotation: HeadRotation) -> np.ndarray:
    """T on all of affine space, put together from its parts."""
    waves = rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors
    turned = waves @ torch.diag(torch.exp(1j * rotation.phases).to(waves)) @ waves.mH
    assert turned.imag.abs().max() < 1e-6
    beside = torch.eye(len(rotation.basis)).to(rotation.basis) - rotation.basis @ rotation.basis.mT
    return (turned.real + beside).numpy()


def rotation_of(queries, keys, values=None) -> HeadRotation:
    values = np.arange(queries.shape[1], 0, -1.0) if values is None else values
    parts = (torch.from_numpy(np.array(side))[None] for side in (queries, values, keys))
    return query_key_rotation(QueryKeyFactors(*parts))[0]


def random_orthogonal(n, random):
    """A matrix drawn uniformly from the orthogonal ones."""
    q, r = np.linalg.qr(random.standard_normal((n, n)))
    return q * np.sign(np.diag(r))


def random_columns(n, rank, random):
    return random_orthogonal(n, random)[:, :rank]


@every_family
def test_it_is_the_dense_one_on_every_family(tiny):
    for weights in tiny.layers:
        for rotation, (_, left, values, right) in zip(
            weights.query_key_rotation, dense_form(weights), strict=True
        ):
            np.testing.assert_allclose(
                matrix_of(rotation), nearest_rotation(left, values, right), atol=1e-9
            )


@unhurried(25)
@given(SEEDS)
def test_null_spaces_joint_signs_and_turns_within_equal_values_change_nothing(seed):
    random = np.random.default_rng(seed)
    n, values = 11, np.array([3.0, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0])
    left, right = random_orthogonal(n, random), random_orthogonal(n, random)
    turn, signs = np.eye(5), np.diag(random.choice([-1.0, 1], 5))
    turn[1:4, 1:4] = random_orthogonal(3, random)
    before = rotation_of(left[:, :5], right[:, :5], values[:5])
    after = rotation_of(left[:, :5] @ turn @ signs, right[:, :5] @ turn @ signs, values[:5])
    np.testing.assert_allclose(matrix_of(after), matrix_of(before), atol=1e-7)
    np.testing.assert_allclose(after.phases, before.phases, atol=1e-7)
    for side in (left, right):
        side[:, 5:] = side[:, 5:] @ random_orthogonal(n - 5, random)
    np.testing.assert_allclose(matrix_of(before), nearest_rotation(left, values, right), atol=1e-7)


@unhurried(25)
@given(SEEDS)
def test_vectors_are_unitary_and_phases_come_in_pairs_in_ascending_order(seed):
    random = np.random.default_rng(seed)
    rotation = rotation_of(random_columns(9, 4, random), random_columns(9, 4, random))
    size = len(rotation.phases)
    np.testing.assert_allclose(rotation.vectors.mH @ rotation.vectors, np.eye(size), atol=1e-12)
    phases = rotation.phases.numpy()
    assert (np.diff(phases) >= 0).all()
    assert (phases > -np.pi).all()
    assert phases[-1] <= np.pi
    paired = phases[phases < np.pi - 1e-6]
    np.testing.assert_allclose(np.sort(paired), np.sort(-paired), atol=1e-9)


@pytest.mark.parametrize(
    ("angle", "phases"), [(0.4, [-0.4, 0.4]), (np.pi / 2, [-np.pi / 2, np.pi / 2]), (2, [0, np.pi])]
)
def test_a_single_query_is_rotated_to_a_right_angle_and_beyond_it_reflected(angle, phases):
    query, beside = np.eye(5)[:, :1], np.eye(5)[:, 1:2]
    rotation = rotation_of(query, np.cos(angle) * query + np.sin(angle) * beside)
    np.testing.assert_allclose(rotation.phases, phases, atol=1e-9)


def test_a_head_that_compares_nothing_has_no_rotation():
    random = np.random.default_rng(4)
    rotation = rotation_of(random_columns(9, 2, random), random_columns(9, 2, random), np.zeros(2))
    assert rotation.phases.numel() == 0
    assert rotation.basis.shape == (9, 0)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_scale_of_the_scores_decides_nothing(scale):
    random = np.random.default_rng(6)
    left, right = random_columns(9, 3, random), random_columns(9, 3, random)
    values = np.array([1.0, 1e-3, 1e-8])
    expected = matrix_of(rotation_of(left[:, :2], right[:, :2]))
    np.testing.assert_allclose(
        matrix_of(rotation_of(left, right, scale * values)), expected, atol=1e-12
    )


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
    matrices = [nearest_rotation(*factors[1:]) for factors in dense_form(layer.weights)]
    for rotation, matrix in zip(layer.weights.query_key_rotation, matrices, strict=True):
        amplitudes = phase_amplitudes(inputs, rotation)
        waves = (rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors).numpy()
        for plane, vector in enumerate(waves.T):
            for side in (affine @ vector, affine @ (matrix @ vector)):
                slow = np.abs(np.fft.fft(side))[: amplitudes.shape[1]]
                assert amplitudes[plane].tolist() == pytest.approx(slow, rel=1e-7, abs=1e-7)


def test_a_head_that_compares_nothing_has_every_frequency_and_no_plane():
    nothing = torch.zeros(2, 1, 4, 2, dtype=torch.float64)
    bias = torch.zeros(1, 2, dtype=torch.float64)
    rotation = query_key_rotation(query_key_factors(nothing[0], bias, nothing[1], bias))[0]
    for n_tokens in (8, 9):
        amplitudes = phase_amplitudes(torch.ones(n_tokens, 4, dtype=torch.float64), rotation)
        assert amplitudes.shape == (0, len(frequencies(n_tokens)))


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


def test_directions_that_compare_nothing_have_no_wave(tiny, sequences):
    only = max(sequences, key=len)
    width = tiny.layers[0].query_weight.shape[-1]

    def blinded(weights):
        parts = {}
        for name in ("query_weight", "query_bias"):
            parts[name] = getattr(weights, name).clone()
            parts[name][1, ..., 1:] = 0
            parts[name][2] = 0
        return replace(weights, **parts)

    layers = changed_layers(tiny, [only], blinded, exemplars=frozenset({only.index}))[:1]
    waves = stored(QUERY_KEY_WAVE, layers).groupby("head")["rank"].agg(list)
    assert waves.to_dict() == {1: list(range(1, width + 1)), 2: [1]}
    rotations = layers[0].weights.query_key_rotation
    assert [len(rotation.phases) for rotation in rotations[1:]] == [2, 0]
    phases = stored(QUERY_KEY_PHASE, layers).groupby("head").size()
    assert phases.to_dict() == {head: len(rotations[head - 1].phases) for head in (1, 2)}


@every_model
def test_nothing_is_missed_on_any_family(traced_alone, attention_error):
    for trace in traced_alone:
        for layer in trace.layers:
            errors = relative_errors(layer)
            assert len(errors) == len(ERRORS)
            assert errors.max() < 100 * attention_error  # nearly even attention differs by little


@added_positions
@pytest.mark.parametrize(
    ("fault", "noticed"),
    [
        ("swapped", {"attention_error"}),
        ("misfactored", {"score_error", "trace_error", "attention_error"}),
        ("unmasked", {"attention_error"}),
    ],
)
def test_misread_heads_are_noticed(traced_alone, fault, noticed):
    layer = traced_alone[0].layers[1]
    weights = layer.weights
    query, key = weights.query_weight.clone(), weights.key_weight.clone()
    if fault == "swapped":
        query[1], key[1] = weights.key_weight[1], weights.query_weight[1]
        misread = replace(weights, query_weight=query, key_weight=key)
    elif fault == "misfactored":
        misread = replace(weights)
        factors = weights.query_key
        vars(misread)["query_key"] = replace(factors, values=factors.values.flip(-1))
    else:
        misread = replace(weights, is_causal=not weights.is_causal)
    errors = relative_errors(replace(layer, weights=misread))
    assert {name for name, error in zip(ERRORS, errors, strict=True) if error > 1e-2} == noticed


def test_attention_that_is_off_is_held_against_its_distance_from_even_attention(traced_alone):
    for trace in traced_alone:
        layer = trace.layers[0]
        sharper = layer.attention**2
        sharper = sharper / sharper.sum(dim=-1, keepdim=True)
        seen = layer.weights.pairs(sharper.shape[-1])
        even = seen / seen.sum(dim=-1, keepdim=True)
        missed = (layer.attention - sharper)[0].norm(dim=-1)
        differs = missed > 1e-3
        expected = (missed / (sharper[0] - even).norm(dim=-1))[differs].max()
        error = relative_errors(replace(layer, attention=sharper))[2]
        assert error.item() == pytest.approx(expected.item(), rel=1e-3)


STATISTICS = ["query_key_error"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    asked = request(tmp_path_factory.mktemp("errors"), statistics=STATISTICS)
    run(asked, run_local)
    return asked


def heads_swapped(layer):
    """Query and key of the layer's second head in each other's place."""
    parts = {}
    for kind in ("weight", "bias"):
        query, key = (getattr(layer, f"{side}_{kind}").clone() for side in ("query", "key"))
        query[1], key[1] = key[1].clone(), query[1].clone()
        parts |= {f"query_{kind}": query, f"key_{kind}": key}
    return replace(layer, **parts)


def test_a_head_whose_key_and_query_are_swapped_is_not_published(tmp_path, monkeypatch):
    misread_unproved(monkeypatch, heads_swapped)
    asked = request(tmp_path, statistics=STATISTICS)
    with pytest.raises(UserError, match=r"layer 2: the parts of the query-key form miss the mod"):
        run(asked, run_local)
    assert not asked.output.exists()


@pytest.mark.parametrize(
    ("part", "error"),
    [("score_error", "0.01"), ("trace_error", "'nan'"), ("attention_error", "0.01")],
)
def test_a_file_with_such_an_error_is_told(finished, part, error):
    with duckdb.connect(str(finished.output)) as store:
        assert_parts_add_up(store)
        store.begin()
        store.execute(f"update stored.query_key_error set {part} = {error} where seq = 1")
        assert refused(UserError, assert_parts_add_up, store).startswith(
            "Sequence 1, layer 1: the parts of the query-key form miss"
        )
        store.rollback()
