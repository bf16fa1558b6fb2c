import torch

from analysis.measures.norms.singular_value import affine_singular_values, linear_singular_values
from tests.reference.norms import singular_value as reference


def test_values_are_those_of_the_whole_product_and_the_rest_is_zero(traced):
    for layer in traced.layers:
        values = affine_singular_values(layer.weights)
        for head, found in enumerate(values):
            expected = torch.from_numpy(
                reference.affine_singular_values(
                    layer.weights.value_weight[head].numpy(),
                    layer.weights.value_bias[head].numpy(),
                    layer.weights.output_weight[head].numpy(),
                )
            )
            assert len(found) == layer.values.shape[-1] + 1 < len(expected)
            torch.testing.assert_close(found, expected[: len(found)], rtol=1e-10, atol=1e-12)
            assert expected[len(found) :].max() < 1e-12


def test_the_linear_part_has_the_values_of_the_product_without_the_constant(traced):
    for layer in traced.layers:
        for head, found in enumerate(linear_singular_values(layer.weights)):
            expected = torch.from_numpy(
                reference.linear_singular_values(
                    layer.weights.value_weight[head].numpy(),
                    layer.weights.output_weight[head].numpy(),
                )
            )
            assert len(found) == layer.values.shape[-1]
            torch.testing.assert_close(found, expected[: len(found)], rtol=1e-10, atol=1e-12)
