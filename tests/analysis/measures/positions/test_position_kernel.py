import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.rotary_plane import plane_totals
from analysis.measures.positions.score_share import position_kernel
from analysis.models.rotary import Rotary
from tests.analysis.measures.positions.turned.layers import both_ways, planted
from tests.reference.positions import position_kernel as reference


def _planes(seed, n=5):
    draw = np.random.default_rng(seed)
    means = draw.normal(size=n) + 1j * draw.normal(size=n)
    return means, 10000.0 ** -draw.random(n)


@given(st.integers(0, 100), st.integers(-50, 50))
def test_a_kernel_is_the_sum_of_its_planes(seed, offset):
    means, frequencies = _planes(seed)
    (value,) = position_kernel(means, frequencies, np.array([offset]))
    expected = reference.position_kernel(means.tolist(), frequencies.tolist(), offset)
    assert value == pytest.approx(expected, abs=1e-12)


def test_one_plane_is_a_wave_that_comes_again_after_its_length():
    means, frequencies = np.array([2j]), np.array([2 * np.pi / 8])
    kernel = position_kernel(means, frequencies, np.arange(-8, 9))
    np.testing.assert_allclose(kernel[:9], kernel[8:], atol=1e-12)
    assert kernel.argmax() - 8 == -6  # a quarter of the way on, a length earlier
    assert kernel.max() == pytest.approx(2)


@both_ways
@pytest.mark.parametrize("planes", [1, 2], ids=["partial", "whole"])
def test_the_kernel_of_constant_queries_and_keys_is_all_of_every_score(traced_alone, planes):
    """Coordinates without rotation add a constant to every score, which softmax ignores."""
    layer = traced_alone[0].layers[0]
    rotary = Rotary(torch.tensor([0.9, 0.05][:planes], dtype=torch.float64), 1.1)
    weights = planted(layer.weights, [-2, -1, 1], rotary)
    read = layer.attention_input[0]
    totals = plane_totals(read, weights)
    means = (totals.query * totals.key.conj()).numpy() / totals.n_pairs**2
    n = len(read)
    frequencies = np.broadcast_to(rotary.frequencies.numpy(), means.shape)
    kernel = position_kernel(means, frequencies, np.arange(1 - n, n))
    queries, keys = (rotary.turned(side) for side in (weights.queries(read), weights.keys(read)))
    scores = (queries @ keys.mT * weights.score_scale).numpy()
    for i in range(n):
        for j in range(n):
            np.testing.assert_allclose(scores[:, i, j], kernel[:, j - i + n - 1], atol=1e-12)
    near = kernel[:, n - 4 : n + 3]
    assert (near.argmax(axis=1) - 3).tolist() == [-2, -1, 1]
