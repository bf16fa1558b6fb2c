"""Sums of scores along diagonals: by waves, by planes and written out, and as they are stored."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.query_key_wave import (
    centred_covariance,
    scored_waves,
    weighted_covariance,
)
from analysis.models.head_norm import HeadNormWeights
from analysis.statistics.positions.scores import QUERY_KEY_CORRELATION
from tests.statistics.positions.slow_twins import (
    diagonal_sum,
    raw_scores,
    row_centred,
    turned_score,
)
from tests.statistics.positions.turned_layers import stored, tuples, turning
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
                turned_score(
                    queries[i],
                    keys[j],
                    rotary.frequencies.tolist(),
                    offset,
                    scaling=rotary.scaling,
                )
                for i, j in pairs
            )
            assert covariance[head, place].item() == pytest.approx(expected, abs=1e-10)


def maps(traces, layer, head):
    """The attention of one head in every sequence."""
    return [trace.layers[layer].attention[0, head].tolist() for trace in traces.values()]


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 2)])
def test_scores_and_attention_are_means_over_texts(
    position_store, position_traces, is_causal, layer, head
):
    correlation = position_store.execute(
        "from query_key_correlation_mean where layer = ? and head = ? order by all",
        [layer + 1, head + 1],
    ).df()
    longest = max(trace.is_token.shape[1] for trace in position_traces.values()) - 1
    assert correlation["offset"].tolist() == list(range(-longest, 1 if is_causal else longest + 1))
    weights = next(iter(position_traces.values())).layers[layer].weights
    scores = [
        raw_scores(trace.layers[layer].attention_input[0], weights, head).tolist()
        for trace in position_traces.values()
    ]
    for row in tuples(correlation):
        for matrices, of_sums, of_pairs in (
            (scores, row.value, row.value_per_pair),
            (maps(position_traces, layer, head), row.attention, row.attention_per_pair),
        ):
            sums = [diagonal_sum(matrix, row.offset) for matrix in matrices]
            pairs = [
                total / (len(matrix) - abs(row.offset))
                for total, matrix in zip(sums, matrices, strict=True)
                if len(matrix) > abs(row.offset)
            ]
            assert of_sums == pytest.approx(np.mean(sums), rel=1e-4, abs=1e-5)
            assert of_pairs == pytest.approx(np.mean(pairs), rel=1e-4, abs=1e-5)
            assert row.n_sequences == len(pairs)
        centred = [row_centred(matrix, is_causal=is_causal) for matrix in scores]
        sums = [diagonal_sum(matrix, row.offset) for matrix in centred]
        assert row.value_centred == pytest.approx(np.mean(sums), rel=1e-4, abs=1e-4)


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
