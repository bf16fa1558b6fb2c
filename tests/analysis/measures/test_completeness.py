import dataclasses

import pytest
import torch

from analysis.measures.completeness import attention_block_error, attention_sum_error
from tests.reference import completeness as reference
from tests.tiny import text_families


def _heads(layer) -> list[dict]:
    weights = layer.weights
    return [
        {
            "value": weights.value_weight[h].tolist(),
            "value_bias": weights.value_bias[h].tolist(),
            "output": weights.output_weight[h].tolist(),
            "output_bias": weights.output_bias.tolist(),
        }
        for h in range(len(weights.value_weight))
    ]


def test_the_block_is_the_sum_of_its_parts_written_out(traced_alone):
    for layer in traced_alone[0].layers:
        inputs, attention = layer.attention_input[0].tolist(), layer.attention[0].tolist()
        for query in range(len(inputs)):
            expected = reference.block_output(inputs, attention, query, _heads(layer))
            assert layer.attention_output[0, query].tolist() == pytest.approx(expected, rel=1e-9)


def test_parts_add_up_in_every_layer(traced, attention_error):
    for layer in traced.layers:
        assert attention_block_error(layer, traced.is_token).max() < 1e-13
        assert attention_sum_error(layer.attention, traced.is_token).max() < attention_error


def test_sum_error_follows_its_slow_twin(traced_alone):
    trace = traced_alone[0]
    attention = trace.layers[0].attention * 0.9
    expected = reference.attention_sum_error(attention[0].tolist())
    assert attention_sum_error(attention, trace.is_token).item() == pytest.approx(expected)


@pytest.mark.parametrize("fault", ["output_weight", "output_bias"])
def test_misread_weights_are_noticed(traced, fault):
    layer = traced.layers[0]
    misread = getattr(layer.weights, fault).flip(0)
    weights = dataclasses.replace(layer.weights, **{fault: misread})
    crossed = dataclasses.replace(layer, weights=weights)
    assert attention_block_error(crossed, traced.is_token).min() > 1e-2


@text_families
def test_attention_that_leaks_to_padding_is_noticed(traced):
    attention = traced.layers[0].attention
    leaking = torch.full_like(attention, 1 / attention.shape[-1])
    assert attention_sum_error(leaking, traced.is_token).max() > 0.1
