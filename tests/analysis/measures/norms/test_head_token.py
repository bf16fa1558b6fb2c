import itertools

import pytest

from analysis.measures.norms.head_token import attention_received, value_norms
from tests.reference.norms import head_token as reference


def _vector(layer, b: int, h: int, k: int) -> list[float]:
    weights = layer.weights
    return reference.transformed(
        layer.attention_input[b, k].tolist(),
        weights.value_weight[h].tolist(),
        weights.value_bias[h].tolist(),
        weights.output_weight[h].tolist(),
    )


def test_value_norms_follow_the_paper_token_by_token(traced):
    for layer in traced.layers:
        norms = value_norms(layer.values, layer.weights.output_factor)
        for b, h, k in itertools.product(*map(range, norms.shape)):
            expected = reference.norm(_vector(layer, b, h, k))
            assert norms[b, h, k].item() == pytest.approx(expected, rel=1e-9)


def test_what_is_received_follows_the_paper_pair_by_pair(traced_alone):
    for trace in traced_alone:
        layer = trace.layers[1]
        received = attention_received(layer.attention, trace.is_token)
        norms = value_norms(layer.values, layer.weights.output_factor)
        for h, k in itertools.product(range(received.shape[1]), range(received.shape[2])):
            attention = layer.attention[0, h].tolist()
            expected = reference.attention_received(attention, k)
            assert received[0, h, k].item() == pytest.approx(expected, rel=1e-12)
            arriving = reference.weighted_norm_received(attention, k, _vector(layer, 0, h, k))
            assert (received * norms)[0, h, k].item() == pytest.approx(arriving, rel=1e-9)
