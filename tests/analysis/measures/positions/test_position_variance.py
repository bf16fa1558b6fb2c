import pytest
import torch

from analysis.measures.positions.position_spectrum import position_variance
from tests.reference.positions import position_variance as reference
from tests.tiny import added_positions


@added_positions
def test_shares_follow_their_slow_twin(tiny):
    embedding = tiny.weights.position_embedding
    expected = reference.shares(embedding.tolist())
    shares = position_variance(embedding).tolist()
    assert shares == pytest.approx(expected[: len(shares)], abs=1e-12)
    assert expected[len(shares) :] == pytest.approx([0] * (len(expected) - len(shares)), abs=1e-12)


def test_there_is_one_component_fewer_than_positions_at_most():
    shares = position_variance(torch.rand(4, 9, generator=torch.Generator().manual_seed(0)))
    assert len(shares) == 3
    assert shares.sum().item() == pytest.approx(1)


def test_positions_that_are_all_alike_have_no_components():
    assert position_variance(torch.full((5, 3), 0.1)).numel() == 0
