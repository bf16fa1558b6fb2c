import dataclasses

import pytest
import torch

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.vector_rollout import vector_rollout
from analysis.models.trace import LayerTrace
from tests.analysis.measures.mixing.test_layer_mixing import in_float32, misread, with_activation
from tests.reference.mixing import vector_rollout as reference


@pytest.fixture(scope="module")
def stacks(traced_alone) -> list[list[LayerTrace]]:
    """The layers of every sequence."""
    return [list(trace.layers) for trace in traced_alone]


@pytest.fixture(scope="module")
def stack(stacks) -> list[LayerTrace]:
    """The layers of the shortest sequence, which is fast enough to be written out."""
    return min(stacks, key=lambda layers: layers[0].input.shape[1])


@pytest.fixture(scope="module")
def written_out(stack) -> list[reference.Vectors]:
    return reference.vectors(stack)


def test_vectors_are_what_their_slow_twin_writes_out(stack, written_out):
    for rollout, expected in zip(vector_rollout(stack), written_out, strict=True):
        for i, row in enumerate(rollout.map):
            assert rollout.bias[i].item() == pytest.approx(expected[i, None].norm().item())
            norms = [expected[i, j].norm().item() for j in range(len(row))]
            assert row.tolist() == pytest.approx(norms, rel=1e-9, abs=1e-12)


def test_they_add_up_to_what_the_model_computed_after_every_layer(stacks):
    for layers in stacks:
        assert max(rollout.error for rollout in vector_rollout(layers)) < 1e-12


def test_the_slow_twin_adds_up_too(stack, written_out):
    for layer, parts in zip(stack, written_out, strict=True):
        for i, output in enumerate(layer.output[0]):
            summed = torch.stack([vector for (to, _), vector in parts.items() if to == i]).sum(0)
            torch.testing.assert_close(summed, output)


def value_bias_to_no_token(layer: LayerTrace) -> LayerTrace:
    """The same layer, with the bias of the values moved to the output bias.

    Rows of attention add up to 1, so the layer computes what it did before.
    """
    weights = layer.weights
    common = weights.value_bias
    for norm in weights.norms_by_stage[0]:
        shift = norm.shift
        common = common + torch.einsum("d,hde->he", shift, weights.value_weight)
    sent = torch.einsum("he,hed->d", common, weights.output_weight)
    return dataclasses.replace(
        layer,
        values=layer.values - common[:, None],
        weights=dataclasses.replace(weights, output_bias=weights.output_bias + sent),
    )


def test_one_layer_is_its_whole_map_with_the_value_bias_out_of_f(stacks, attention_error):
    for layers in stacks:
        for layer in layers:
            (rollout,) = vector_rollout([layer])
            moved = layer_mixing(value_bias_to_no_token(layer))
            assert moved.errors.max() <= 10 * attention_error
            torch.testing.assert_close(rollout.map, moved.maps[-1], rtol=1e-6, atol=1e-6)
            inside_f = layer_mixing(layer).maps[-1]
            assert (rollout.map - inside_f).abs().max() > 1e-3, (
                "the place of the bias is told apart"
            )


@pytest.mark.parametrize("budget", [1, 3000, 10**9])
def test_the_budget_changes_no_number(stacks, budget):
    for full, cut in zip(
        vector_rollout(stacks[0]), vector_rollout(stacks[0], budget=budget), strict=True
    ):
        torch.testing.assert_close(cut.map, full.map, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(cut.bias, full.bias, rtol=1e-12, atol=1e-12)


def test_nothing_reaches_a_token_from_behind_in_a_causal_model(stacks):
    for layers in stacks:
        reached = torch.eye(layers[0].input.shape[1])
        for layer, rollout in zip(layers, vector_rollout(layers), strict=True):
            reached = layer.weights.pairs(len(reached)).float() @ reached
            assert not rollout.map[reached == 0].any()
            assert (rollout.map[reached > 0] > 0).all()


def without_biases(weights):
    """The same weights, with all biases of a layer set to 0."""
    if isinstance(weights, tuple):
        return tuple(map(without_biases, weights))
    if not dataclasses.is_dataclass(weights):
        return weights
    parts = {field.name: getattr(weights, field.name) for field in dataclasses.fields(weights)}
    for name, part in parts.items():
        if dataclasses.is_dataclass(part) or isinstance(part, tuple):
            parts[name] = without_biases(part)
        elif part is not None and (name.endswith("bias") or name == "shift"):
            parts[name] = torch.zeros_like(part)
    return type(weights)(**parts)


def test_a_model_without_biases_is_made_of_its_tokens_alone(stacks):
    for layers in stacks:
        assert (vector_rollout(layers)[0].bias > 1e-3).all()
        bare = [
            dataclasses.replace(layer, weights=without_biases(layer.weights)) for layer in layers
        ]
        assert not any(rollout.bias.any() for rollout in vector_rollout(bare))


def test_float32_stays_close_to_float64(stacks):
    for layers in stacks:
        narrow = vector_rollout([in_float32(layer) for layer in layers])
        for wide, rough in zip(vector_rollout(layers), narrow, strict=True):
            assert rough.error < 1e-4
            torch.testing.assert_close(rough.map.double(), wide.map, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "fault", ["value_bias", "value_weight", "output_bias", "norms.0.shift",
              "norms.0.scale", "feed_forward.output_bias", "norms.-1.shift"],
)  # fmt: skip
def test_a_misread_layer_is_noticed_after_it_and_after_all_that_follow(stacks, fault):
    first, *others = stacks[0]
    rollouts = vector_rollout([misread(first, fault), *others])
    assert min(rollout.error for rollout in rollouts) > 1e-2


def test_another_activation_is_noticed(stacks):
    first, *others = stacks[0]
    other = "silu" if first.weights.feed_forward.activation != "silu" else "gelu"
    rollouts = vector_rollout([with_activation(first, other), *others])
    assert rollouts[0].error > 1e-2
