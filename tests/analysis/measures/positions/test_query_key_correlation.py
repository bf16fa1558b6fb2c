import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.query_key_correlation import (
    centred_covariance,
    weighted_covariance,
)
from analysis.measures.positions.query_key_wave import query_key_waves
from tests.reference.positions import query_key_correlation as reference
from tests.reference.positions.relative_position_profile import diagonal_sum


def _waves(n, *, seed):
    draw = np.random.default_rng(seed)
    queries, keys = torch.from_numpy(draw.normal(size=(2, 2, n, 3)))
    return queries, torch.from_numpy(draw.random((2, 3))), keys


@given(st.integers(1, 20), st.integers(0, 25), st.integers(0, 100))
def test_every_offset_is_that_of_the_slow_twin_and_beyond_the_text_there_is_nothing(n, reach, seed):
    queries, values, keys = _waves(n, seed=seed)
    found = weighted_covariance(queries, values, keys, reach=reach)
    for head in range(2):
        sides = queries[head].tolist(), values[head].tolist(), keys[head].tolist()
        for place, offset in enumerate(range(-reach, reach + 1)):
            expected = reference.weighted_covariance(*sides, offset)
            assert found[head, place] == pytest.approx(expected, abs=1e-11)


def test_sums_of_waves_are_sums_along_the_diagonals_of_the_raw_scores(traced_alone):
    for trace in traced_alone:
        for layer in trace.layers:
            queries, keys = query_key_waves(layer.attention_input[0], layer.weights.query_key)
            values = layer.weights.query_key.values
            found = weighted_covariance(queries, values, keys, reach=5)
            for head in range(len(found)):
                scores = reference.scores(layer.attention_input[0], layer.weights, head).tolist()
                expected = [diagonal_sum(scores, offset) for offset in range(-5, 6)]
                np.testing.assert_allclose(found[head], expected, rtol=1e-9, atol=1e-9)


@given(st.integers(1, 20), st.integers(0, 25), st.integers(0, 100), st.booleans())
def test_centred_sums_are_those_of_rows_less_their_mean(n, reach, seed, is_causal):
    queries, values, keys = _waves(n, seed=seed)
    found = centred_covariance(queries, values, keys, reach=reach, is_causal=is_causal)
    for head, scores in enumerate((queries * values[:, None] @ keys.mT).tolist()):
        rows = reference.row_centred(scores, is_causal=is_causal)
        expected = [diagonal_sum(rows, offset) for offset in range(-reach, reach + 1)]
        np.testing.assert_allclose(found[head], expected, atol=1e-11)


def test_what_the_query_alone_says_leaves_centred_sums_as_they_were():
    """Keys moved by one vector add a term to every row, which the softmax does not see."""
    queries, values, keys = _waves(9, seed=4)
    moved = keys + torch.tensor([3.0, -1.0, 2.0])
    before, after = (
        centred_covariance(queries, values, each, reach=8, is_causal=False)
        for each in (keys, moved)
    )
    torch.testing.assert_close(after, before)
    paper = [weighted_covariance(queries, values, each, reach=8) for each in (keys, moved)]
    assert (paper[1] - paper[0]).abs().max() > 1


def test_turning_both_sides_of_a_direction_round_changes_nothing():
    queries, values, keys = _waves(9, seed=3)
    turned = weighted_covariance(-queries, values, -keys, reach=4)
    torch.testing.assert_close(turned, weighted_covariance(queries, values, keys, reach=4))


@pytest.mark.parametrize("shift", [-3, 0, 1, 7])
def test_keys_that_run_ahead_of_the_queries_match_best_to_the_left(shift):
    """k(t) = q(t + Δ) has its best match at the offset −Δ."""
    n = 128
    steps = np.arange(n + 16)
    wave = np.random.default_rng(0).normal(size=(len(steps), 2))
    queries = torch.from_numpy(wave[8 : 8 + n])[None]
    keys = torch.from_numpy(wave[8 + shift : 8 + shift + n])[None]
    found = weighted_covariance(queries, torch.ones(1, 2).double(), keys, reach=10)
    assert found[0].argmax() - 10 == -shift
