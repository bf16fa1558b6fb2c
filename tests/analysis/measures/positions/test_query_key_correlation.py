import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.query_key_correlation import (
    centred_covariance,
    scored_waves,
    weighted_covariance,
)
from analysis.measures.positions.query_key_wave import query_key_waves
from analysis.models.head_norm import HeadNormWeights
from tests.analysis.measures.positions.turned.layers import both_ways, turning
from tests.reference.positions import query_key_correlation as reference
from tests.reference.positions import rotary_plane
from tests.reference.positions.relative_position_profile import diagonal_sum


def _waves(n, *, seed):
    draw = np.random.default_rng(seed)
    queries, keys = torch.from_numpy(draw.normal(size=(2, 2, n, 3)))
    return queries, torch.from_numpy(draw.random((2, 3))), keys


@given(st.integers(1, 20), st.integers(0, 25), st.integers(0, 100))
def test_every_offset_is_that_of_the_slow_twin_and_beyond_the_text_there_is_nothing(n, reach, seed):
    queries, values, keys = _waves(n, seed=seed)
    covariance = weighted_covariance(queries, values, keys, reach=reach)
    for head in range(2):
        sides = queries[head].tolist(), values[head].tolist(), keys[head].tolist()
        for place, offset in enumerate(range(-reach, reach + 1)):
            expected = reference.weighted_covariance(*sides, offset)
            assert covariance[head, place] == pytest.approx(expected, abs=1e-11)


def test_sums_of_waves_are_sums_along_the_diagonals_of_the_raw_scores(traced_alone):
    for trace in traced_alone:
        for layer in trace.layers:
            queries, keys = query_key_waves(layer.attention_input[0], layer.weights.query_key)
            values = layer.weights.query_key.values
            covariance = weighted_covariance(queries, values, keys, reach=5)
            for head in range(len(covariance)):
                scores = reference.scores(layer.attention_input[0], layer.weights, head).tolist()
                expected = [diagonal_sum(scores, offset) for offset in range(-5, 6)]
                np.testing.assert_allclose(covariance[head], expected, rtol=1e-9, atol=1e-9)


@given(
    st.integers(1, 20),
    st.integers(0, 25),
    st.integers(0, 100),
    st.booleans(),
    st.none() | st.integers(0, 20),
)
def test_centred_sums_are_those_of_rows_less_their_mean(n, reach, seed, is_causal, window):
    sides = _waves(n, seed=seed)
    mask = {"is_causal": is_causal, "window": window}
    covariance = centred_covariance(*sides, reach=reach, **mask)
    queries, values, keys = sides
    for head, scores in enumerate((queries * values[:, None] @ keys.mT).tolist()):
        rows = reference.row_centred(scores, **mask)
        expected = [diagonal_sum(rows, offset) for offset in range(-reach, reach + 1)]
        np.testing.assert_allclose(covariance[head], expected, atol=1e-11)


@both_ways
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"planes": 1},
        {"scaling": 1.3},
        {"key_norm": HeadNormWeights(torch.rand(4).double() + 0.5, 1e-6)},
    ],
    ids=["whole", "partial", "yarn", "normed"],
)
def test_turned_waves_add_up_to_sums_over_planes_along_the_diagonals(traced_alone, kind):
    """S(t) = Re Σ_c e^(−iθ_c t) Σ_i q_ic conj(k_{i+t, c}), and what is not turned."""
    layer = traced_alone[1].layers[1]
    weights, read = turning(layer.weights, **kind), layer.attention_input[0]
    covariance = weighted_covariance(*scored_waves(read, weights), reach=4)
    rotary = weights.rotary
    for head in range(len(covariance)):
        queries, keys = (
            side[head].tolist() for side in (weights.queries(read), weights.keys(read))
        )
        for place, offset in enumerate(range(-4, 5)):
            pairs = [(i, i + offset) for i in range(len(read)) if 0 <= i + offset < len(read)]
            expected = sum(
                rotary_plane.score(
                    queries[i],
                    keys[j],
                    rotary.frequencies.tolist(),
                    offset,
                    scaling=rotary.scaling,
                )
                for i, j in pairs
            )
            assert covariance[head, place].item() == pytest.approx(expected, abs=1e-10)
