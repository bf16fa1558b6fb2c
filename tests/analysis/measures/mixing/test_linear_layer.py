import pytest
import torch

from analysis.measures.mixing.linear_layer import RESIDUAL, LinearNorm, linear_layer, through
from analysis.models.trace import LayerTrace
from analysis.scopes import GATE_RULES
from tests.reference.mixing import linear_layer as reference


@pytest.fixture(scope="module")
def layers(traced_alone) -> list[LayerTrace]:
    return [layer for trace in traced_alone for layer in trace.layers]


def _read(layer: LayerTrace) -> torch.Tensor:
    """Input of the feed-forward network, by the slow twin's normalisations."""
    order, norms, now = layer.weights.order, list(layer.weights.norms), layer.attention_output[0]
    del norms[: len(order.read)]
    for step in order.after_attention:
        now = now + layer.input[0] if step == "res" else _normed(norms.pop(0), now)
    now = layer.input[0] if order.is_parallel else now
    for _ in order.to_network:
        now = _normed(norms.pop(0), now)
    return now


def _normed(norm, vectors: torch.Tensor) -> torch.Tensor:
    return reference.normalised(norm, vectors, vectors, is_bias=True)


def test_there_is_a_step_for_every_step_of_the_order(layers):
    for layer in layers:
        given, order = linear_layer(layer), layer.weights.order
        stages = (given.read, given.after_attention, given.to_network, given.after_network)
        for steps, names in zip(stages, order.stages, strict=True):
            assert ["ln" if isinstance(step, LinearNorm) else step for step in steps] == list(names)


@pytest.mark.parametrize("rule", GATE_RULES)
def test_the_network_hands_on_all_that_it_reads(layers, rule):
    for layer in layers:
        network, read = linear_layer(layer, gate_rule=rule).network, _read(layer)
        output = network.linear(read, is_bias=True)
        expected = reference.network_output(layer.weights.feed_forward, read)
        torch.testing.assert_close(output, expected, rtol=1e-9, atol=1e-12)


def test_parts_of_what_the_network_reads_are_those_of_the_slow_twin(layers):
    for layer in layers[:2]:
        network, read = linear_layer(layer).network, _read(layer)
        torch.manual_seed(0)
        part = torch.randn_like(read)
        for is_bias in (False, True):
            expected = reference.network_part(
                layer.weights.feed_forward, part, read, is_bias=is_bias
            )
            torch.testing.assert_close(network.linear(part, is_bias=is_bias), expected)


def test_parts_and_bias_make_up_what_goes_through_the_last_steps(layers):
    """Two halves of the whole, one of them the bias, come out as the whole does."""
    for layer in layers:
        given, output = linear_layer(layer), layer.output[0]
        half = torch.randn_like(output)
        halves = (half, False), (output - half, True)
        parts = sum(
            through(given.after_network, part, part, is_bias=is_bias) for part, is_bias in halves
        )
        expected = through(given.after_network, output, output, is_bias=True)
        torch.testing.assert_close(parts, expected)


def test_a_residual_adds_what_entered_and_nothing_else():
    parts, entered = torch.rand(2, 3, 4)
    assert torch.equal(through([RESIDUAL], parts, entered, is_bias=True), parts + entered)
