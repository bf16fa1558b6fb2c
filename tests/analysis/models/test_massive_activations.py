"""The guard sees every misreading of every kind of layer where one activation dwarfs others."""

from dataclasses import replace

import pytest
import torch

from analysis.error_limits import LIMITS
from analysis.measures.mixing.completeness import attention_block_errors
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.positions.query_key_error import relative_errors as query_key_error
from analysis.models.trace import LayerTrace
from tests.massive import FAULTS, PLACES, SIZE, massive_model
from tests.tiny import OF_DECODERS, OF_ORDERS, TEXT_FAMILIES, TINY_VISION, tiny_sequences
from tests.tracing import trace_of

DTYPES = (torch.float32, torch.bfloat16)
CASES = [
    (name, PLACES[number % 2], DTYPES[number // 2 % 2])
    for number, name in enumerate((*TEXT_FAMILIES, *OF_DECODERS, *OF_ORDERS, *TINY_VISION))
]
"""Every kind of family once, and every place in both formats."""
NO_BIASES = {
    "no first bias of the network": ("olmo2", "gemma2"),
    "no second bias of the network": ("olmo2", "gemma2"),
}
HIDDEN = {("olmo2", "every", torch.float32, "wrong activation")}
"""Faults that are not seen: massive gates let all through or nothing, whatever the activation."""


@pytest.mark.parametrize(
    ("name", "place", "dtype"), CASES, ids=[" ".join(map(str, case)) for case in CASES]
)
def test_every_misreading_is_seen_and_a_right_reading_passes(name, place, dtype):
    """In two sequences; DINOv2 spreads a position over its neighbours."""
    model, limit = massive_model(name, place, dtype=dtype), LIMITS[str(dtype).rpartition(".")[2]]
    traces = (trace_of(model, [sequence]) for sequence in tiny_sequences(name)[:2])
    layers = [layer for trace in traces for layer in trace.layers]
    assert max(layer.input.abs().max() for layer in layers) > SIZE / 2
    assert _worst(layers, dtype) < limit
    for layer in (trace for trace in layers if trace.weights.rotary is None):
        assert query_key_error(layer, dtype).max() < limit
    for fault, plant in FAULTS.items():
        if name not in NO_BIASES.get(fault, ()):
            misread = [replace(layer, weights=plant(layer.weights)) for layer in layers]
            is_seen = _worst(misread, dtype) > limit
            assert is_seen is not ((name, place, dtype, fault) in HIDDEN), fault


def _worst(layers: list[LayerTrace], dtype: torch.dtype) -> float:
    errors = []
    for layer in layers:
        is_token = torch.ones(layer.output.shape[:2], dtype=torch.bool)
        errors += [
            attention_block_errors(layer, is_token, dtype),
            layer_mixing(layer, dtype=dtype).errors,
        ]
    return max(error.max().item() for error in errors)
