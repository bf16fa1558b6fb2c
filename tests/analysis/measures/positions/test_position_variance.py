import math

import pytest
import torch

from analysis.measures.positions.position_variance import position_variance
from tests.reference.positions import position_variance as reference


def test_shares_follow_their_slow_twin(tiny):
    embedding = tiny.weights.position_embedding
    expected = reference.shares(embedding.tolist())
    assert position_variance(embedding).tolist() == pytest.approx(expected, abs=1e-12)


def test_two_waves_of_known_height_make_two_components():
    t = torch.arange(32, dtype=torch.float64) * 2 * math.pi / 32
    columns = (3 * t.sin(), 5 + t.cos(), torch.zeros(32), torch.ones(32))
    found = position_variance(torch.stack(columns, dim=1))
    assert found.tolist() == pytest.approx([0.9, 0.1, 0, 0], abs=1e-12)


def test_there_is_one_component_fewer_than_positions_at_most():
    found = position_variance(torch.rand(4, 9, generator=torch.Generator().manual_seed(0)))
    assert len(found) == 3
    assert found.sum().item() == pytest.approx(1)


def test_a_turned_or_moved_embedding_has_the_same_shares():
    draw = torch.Generator().manual_seed(0)
    embedding = torch.randn(20, 6, generator=draw, dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(6, 6, generator=draw, dtype=torch.float64)).Q
    moved = embedding @ turn * 7 + 3
    torch.testing.assert_close(position_variance(moved), position_variance(embedding))


def test_positions_that_are_all_alike_have_no_components():
    assert position_variance(torch.full((5, 3), 0.1)).numel() == 0
