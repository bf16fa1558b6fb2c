import itertools

import pytest
import torch

from analysis.measures.norms.head_token import attention_received, value_norms
from tests.reference.norms import head_token as reference
from tests.tiny import text_families


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


def test_attention_received_adds_up_to_the_number_of_tokens(traced):
    for layer in traced.layers:
        received = attention_received(layer.attention, traced.is_token)
        n = traced.is_token.sum(dim=1, dtype=torch.float64)
        torch.testing.assert_close(received.sum(dim=-1), n[:, None].expand(-1, received.shape[1]))


@text_families
def test_padding_receives_nothing(traced):
    received = attention_received(traced.layers[0].attention, traced.is_token)
    padding = ~traced.is_token[:, None].expand_as(received)
    assert padding.any()
    assert received[padding].abs().max() == 0


def test_turning_the_residual_stream_changes_no_norm(traced):
    layer = traced.layers[0]
    width = layer.weights.output_weight.shape[-1]
    noise = torch.randn(width, width, generator=torch.Generator().manual_seed(1)).double()
    turn, _ = torch.linalg.qr(noise)
    turned = torch.linalg.qr((layer.weights.output_weight @ turn).mT, mode="r")[1].mT
    torch.testing.assert_close(
        value_norms(layer.values, turned),
        value_norms(layer.values, layer.weights.output_factor),
    )


def test_doubling_a_value_doubles_its_norm(traced):
    layer = traced.layers[0]
    norms = value_norms(layer.values, layer.weights.output_factor)
    doubled = value_norms(2 * layer.values, layer.weights.output_factor)
    torch.testing.assert_close(doubled, 2 * norms)
