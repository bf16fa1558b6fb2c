"""Sums of scores along diagonals: by waves and written out, and of scores with terms of offsets."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.query_key_wave import (
    centred_covariance,
    weighted_covariance,
)
from analysis.statistics.positions.scores import QUERY_KEY_CORRELATION
from tests.statistics.positions.slow_twins import (
    diagonal_sum,
    row_centred,
)
from tests.statistics.positions.turned_layers import stored
from tests.tiny import tiny_model, tiny_sequences
from tests.tracing import layers_of


def slow_weighted_covariance(queries, values, keys, offset):
    """Every direction's products of a query with the key `offset` further on, times its value."""
    n = len(queries)
    return math.fsum(
        value * queries[i][j] * keys[i + offset][j]
        for j, value in enumerate(values)
        for i in range(n)
        if 0 <= i + offset < n
    )


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
            expected = slow_weighted_covariance(*sides, offset)
            assert covariance[head, place] == pytest.approx(expected, abs=1e-11)


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
        rows = row_centred(scores, **mask)
        expected = [diagonal_sum(rows, offset) for offset in range(-reach, reach + 1)]
        np.testing.assert_allclose(covariance[head], expected, atol=1e-11)


@pytest.mark.parametrize("kind", ["t5", "deberta-v2"])
def test_sums_along_diagonals_are_those_of_the_models_scores(kind):
    layers = layers_of(tiny_model(kind), tiny_sequences(kind)[:1])
    rows = stored(QUERY_KEY_CORRELATION, layers)
    for layer in layers:
        scores = layer.weights.scores(layer.trace.attention_input) / layer.weights.score_scale
        scores = scores[0].numpy()
        centred = scores - scores.mean(axis=-1, keepdims=True)
        of_layer = rows[rows["layer"] == layer.weights.number]
        for row in of_layer.to_dict("records"):
            for name, matrix in (("value", scores), ("value_centred", centred)):
                expected = np.trace(matrix[row["head"] - 1], offset=row["offset"])
                assert row[name] == pytest.approx(expected, abs=1e-9)
