"""The thin decomposition is the dense one without its null spaces."""

import numpy as np
import pytest
import torch

from tests.reference.positions.query_key_factors import dense


@pytest.fixture(scope="session")
def layers(tiny):
    return tiny.layers


def _dense(weights):
    parts = (weights.query_weight, weights.query_bias, weights.key_weight, weights.key_bias)
    return dense(*(part.numpy() for part in parts))


def test_the_values_are_those_of_the_dense_decomposition_and_the_rest_is_zero(layers):
    for weights in layers:
        rank = weights.query_weight.shape[-1]
        for found, (_, _, values, _) in zip(weights.query_key.values, _dense(weights), strict=True):
            np.testing.assert_allclose(found, values[:rank], rtol=1e-10)
            assert values[rank:].max() < 1e-12 * values[0]


def test_the_factors_rebuild_the_product(layers):
    for weights in layers:
        factors = weights.query_key
        rebuilt = (factors.query * factors.values[:, None, :]) @ factors.key.mT
        for found, (product, *_) in zip(rebuilt, _dense(weights), strict=True):
            np.testing.assert_allclose(found, product, atol=1e-12)


def test_the_directions_are_orthonormal(layers):
    for weights in layers:
        for side in (weights.query_key.query, weights.query_key.key):
            products = side.mT @ side
            torch.testing.assert_close(
                products, torch.eye(products.shape[-1]).to(products).expand_as(products)
            )


def test_scores_are_queries_and_keys_in_the_new_coordinates(traced):
    for layer in traced.layers:
        weights, factors = layer.weights, layer.weights.query_key
        inputs = torch.nn.functional.pad(layer.attention_input, (0, 1), value=1.0).unsqueeze(1)
        made = ((inputs @ factors.query) * factors.values[:, None, :]) @ (inputs @ factors.key).mT
        queries = layer.attention_input.unsqueeze(1) @ weights.query_weight
        keys = layer.attention_input.unsqueeze(1) @ weights.key_weight
        scores = (queries + weights.query_bias[:, None]) @ (keys + weights.key_bias[:, None]).mT
        torch.testing.assert_close(made, scores)
