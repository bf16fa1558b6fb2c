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


@pytest.fixture(scope="module", params=CASES, ids=lambda case: " ".join(map(str, case)))
def case(request) -> tuple[str, str, torch.dtype]:
    return request.param


@pytest.fixture(scope="module")
def dtype(case) -> torch.dtype:
    return case[2]


@pytest.fixture(scope="module")
def layers(case, dtype) -> list[LayerTrace]:
    """Every layer of two sequences."""
    name, place, _ = case
    model = massive_model(name, place, dtype=dtype)
    sequences = tiny_sequences(name)[:2]
    return [layer for sequence in sequences for layer in trace_of(model, [sequence]).layers]


def _worst(layers: list[LayerTrace], dtype: torch.dtype) -> float:
    errors = []
    for layer in layers:
        is_token = torch.ones(layer.output.shape[:2], dtype=torch.bool)
        errors += [
            attention_block_errors(layer, is_token, dtype),
            layer_mixing(layer, dtype=dtype).errors,
        ]
    return max(error.max().item() for error in errors)


def _limit(dtype: torch.dtype) -> float:
    return LIMITS[str(dtype).removeprefix("torch.")]


def test_the_activation_is_massive(layers):
    largest = max(layer.input.abs().max() for layer in layers)
    assert largest > SIZE / 2, "DINOv2 spreads a position over its neighbours"


def test_a_right_reading_passes(layers, dtype):
    assert _worst(layers, dtype) < _limit(dtype)
    for layer in (trace for trace in layers if trace.weights.rotary is None):
        assert query_key_error(layer, dtype).max() < _limit(dtype)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_misreading_is_refused(layers, dtype, case, fault):
    misread = [replace(layer, weights=FAULTS[fault](layer.weights)) for layer in layers]
    if fault in NO_BIASES and case[0] in NO_BIASES[fault]:
        pytest.skip("the family has no such bias")
    seen = _worst(misread, dtype) > _limit(dtype)
    assert seen is not ((*case, fault) in HIDDEN)
