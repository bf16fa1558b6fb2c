"""Attention weighed by norms against vectors made one by one, and its laws."""

import pytest
import torch

from analysis.measures.norms.head_token import value_norms
from analysis.measures.norms.norm_weighted_attention import norm_weighted_attention
from tests.reference.norms import norm_weighted_attention as twin


def test_shares_are_those_of_the_vectors_themselves(traced, sequences):
    """The layers of every family, from the input of attention on."""
    for layer in traced.layers:
        weights = layer.weights
        norms = value_norms(layer.values, weights.output_factor)
        weighted = norm_weighted_attention(layer.attention, norms)
        for row, sequence in enumerate(sequences):
            n = len(sequence)
            for head in range(layer.attention.shape[1]):
                made = twin.vectors(
                    layer.attention_input[row, :n].tolist(),
                    weights.value_weight[head].tolist(),
                    weights.value_bias[head].tolist(),
                    weights.output_weight[head].tolist(),
                )
                expected = twin.shares(layer.attention[row, head, :n, :n].tolist(), made)
                shares = weighted[row, head, :n, :n]
                torch.testing.assert_close(shares, torch.tensor(expected).to(shares.dtype))


def rows(n_heads: int = 3, n: int = 6, seed: int = 0) -> torch.Tensor:
    scores = torch.randn(
        n_heads, n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    return torch.softmax(scores, dim=-1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_row_that_brings_nothing_keeps_its_weights(dtype):
    attention = rows().to(dtype)
    weighted = norm_weighted_attention(attention, torch.zeros(3, 6, dtype=dtype))
    assert weighted.dtype == torch.promote_types(dtype, torch.float32)
    torch.testing.assert_close(weighted, attention.to(weighted.dtype))


def test_what_a_query_cannot_see_brings_nothing():
    attention = torch.softmax(
        torch.zeros(4, 4, dtype=torch.float64).masked_fill(~torch.ones(4, 4).tril().bool(), -1e9),
        dim=-1,
    )
    weighted = norm_weighted_attention(
        attention[None], torch.tensor([[1.0, 2.0, 3.0, 4.0]]).double()
    )
    assert (weighted.triu(1) == 0).all()
