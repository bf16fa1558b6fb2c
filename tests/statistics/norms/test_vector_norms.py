"""Norms of transformed vectors against f(x) written out token by token, on every kind of family."""

from itertools import product

import numpy as np
import pytest
import torch

from analysis.measures.norms.vector_norms import (
    attention_received,
    norm_shares_received,
    norm_weighted_attention,
    value_norms,
)
from analysis.statistics import norms
from precompute.passes.filling import rows_of_weights
from tests.reference import transformed_vectors as twin
from tests.tiny import FAMILIES

each_family = pytest.mark.parametrize("family", FAMILIES, indirect=True, scope="session")


@each_family
def test_norms_sums_and_shares_are_those_of_the_vectors_one_by_one(traced, sequences):
    for layer, (row, sequence) in product(traced.layers, enumerate(sequences)):
        n = len(sequence)
        norms = value_norms(layer.values, layer.weights.output_factor)
        received = attention_received(layer.attention, traced.is_token) * norms
        shared = norm_shares_received(layer.attention, norms, traced.is_token)
        weighted = norm_weighted_attention(layer.attention, norms[..., None, :])[row, :, :n, :n]
        for head in range(norms.shape[1]):
            vectors = twin.vectors_of(layer, row, head, n)
            attention = layer.attention[row, head, :n, :n].double()
            lengths = [twin.norm(vector) for vector in vectors]
            assert norms[row, head, :n].tolist() == pytest.approx(lengths, rel=1e-9)
            arriving = [
                sum(twin.norm([weight * x for x in vector]) for weight in column)
                for vector, column in zip(vectors, attention.mT.tolist(), strict=True)
            ]
            assert received[row, head, :n].tolist() == pytest.approx(arriving, rel=1e-6)
            shares = torch.tensor(twin.shares(attention.tolist(), vectors))
            torch.testing.assert_close(weighted[head], shares.to(weighted.dtype))
            sums = shares.sum(dim=0).tolist()
            assert shared[row, head, :n].tolist() == pytest.approx(sums, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_rows_without_any_norm_keep_their_weights(dtype):
    scores = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(0))
    attention = scores.softmax(dim=-1).tril().to(dtype)
    norms = torch.tensor([[0.0] * 6, [1.0] * 6, [0.0] + [2.0] * 5]).to(dtype)
    weighted = norm_weighted_attention(attention, norms[..., None, :])
    assert weighted.dtype == torch.promote_types(dtype, torch.float32)
    torch.testing.assert_close(weighted[0], attention[0].to(weighted.dtype))
    assert weighted[2, 0, 0] == attention[2, 0, 0], "the first query sees nothing else"
    assert weighted[1:, 1:].sum(dim=-1).tolist() == pytest.approx(np.ones((2, 5)))
    assert (weighted.triu(1) == 0).all()


def test_queries_without_any_norm_keep_their_weights():
    attention = torch.full((1, 3, 4, 4), 0.5).tril()
    norms = torch.tensor([[[0.0] * 4, [1.0] * 4, [0.0] + [2.0] * 3]])
    is_token = torch.tensor([[True, True, True, False]])
    received = norm_shares_received(attention, norms, is_token)
    assert received.sum(dim=-1).tolist() == [[3.0, 3.0, 2.5]]
    assert received[0, 2].tolist() == [0.5, 1.5, 0.5, 0.0]


@each_family
def test_singular_values_are_those_of_the_whole_product(tiny):
    rows = rows_of_weights(norms.SINGULAR_VALUE, tiny.weights).to_pandas()
    for weights in tiny.layers:
        for head in range(len(weights.query_weight)):
            value, output = weights.value_weight[head].numpy(), weights.output_weight[head].numpy()
            bias = np.append(weights.value_bias[head].numpy(), 1)
            left = np.vstack([np.pad(value, ((0, 0), (0, 1))), bias])
            right = np.pad(output, ((0, 1), (0, 1)))
            right[-1, -1] = 1
            whole, linear = (
                np.linalg.svd(matrix, compute_uv=False) for matrix in (left @ right, value @ output)
            )
            n = value.shape[1]
            assert max(whole[n + 1 :].max(), linear[n:].max(initial=0)) < 1e-12
            found = rows[(rows["layer"] == weights.number) & (rows["head"] == head + 1)]
            assert found["rank"].tolist() == list(range(1, n + 2))
            assert found["value"].tolist() == pytest.approx(whole[: n + 1], rel=1e-9)
            assert found["linear_value"].tolist()[:-1] == pytest.approx(linear[:n], rel=1e-9)
            assert np.isnan(found["linear_value"].tolist()[-1])
