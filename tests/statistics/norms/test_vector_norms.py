"""Norms of transformed vectors against f(x) written out token by token, on every kind of family."""

import numpy as np
import pytest
import torch

from analysis.measures.norms.vector_norms import (
    norm_shares_received,
    norm_weighted_attention,
)


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
