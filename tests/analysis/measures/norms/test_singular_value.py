from dataclasses import replace

import torch

from analysis.measures.norms.singular_value import affine_singular_values, linear_singular_values
from tests.reference.norms import singular_value as reference


def test_values_are_those_of_the_whole_product_and_the_rest_is_zero(traced):
    for layer in traced.layers:
        values = affine_singular_values(layer.weights)
        for head, found in enumerate(values):
            whole = torch.from_numpy(
                reference.affine_singular_values(
                    layer.weights.value_weight[head].numpy(),
                    layer.weights.value_bias[head].numpy(),
                    layer.weights.output_weight[head].numpy(),
                )
            )
            assert len(found) == layer.values.shape[-1] + 1 < len(whole)
            torch.testing.assert_close(found, whole[: len(found)], rtol=1e-10, atol=1e-12)
            assert whole[len(found) :].max() < 1e-12


def test_a_rotation_scaled_by_three_has_values_three_and_one(traced):
    """W_V W_O is 3 times a projection: f̃ keeps [0 1] and stretches four directions by 3."""
    generator = torch.Generator().manual_seed(0)
    heads, width, head_width = traced.layers[0].weights.value_weight.shape
    noise = torch.randn(heads, width, head_width, generator=generator, dtype=torch.float64)
    basis, _ = torch.linalg.qr(noise)
    weights = replace(
        traced.layers[0].weights,
        value_weight=3 * basis,
        value_bias=torch.zeros(heads, head_width, dtype=torch.float64),
        output_weight=basis.mT,
        output_bias=torch.zeros(width, dtype=torch.float64),
    )
    expected = torch.tensor([[3.0] * head_width + [1.0]] * heads, dtype=torch.float64)
    torch.testing.assert_close(affine_singular_values(weights), expected)


def test_the_linear_part_has_the_values_of_the_product_without_the_constant(traced):
    for layer in traced.layers:
        for head, found in enumerate(linear_singular_values(layer.weights)):
            whole = torch.from_numpy(
                reference.linear_singular_values(
                    layer.weights.value_weight[head].numpy(),
                    layer.weights.output_weight[head].numpy(),
                )
            )
            assert len(found) == layer.values.shape[-1]
            torch.testing.assert_close(found, whole[: len(found)], rtol=1e-10, atol=1e-12)


def test_a_long_bias_stretches_the_affine_map_and_leaves_the_linear_part_alone(traced):
    weights = traced.layers[0].weights
    longer = replace(weights, value_bias=weights.value_bias + 100)
    torch.testing.assert_close(linear_singular_values(longer), linear_singular_values(weights))
    assert (affine_singular_values(longer)[:, 0] > 10 * affine_singular_values(weights)[:, 0]).all()
