"""Published relevance methods: clark-2019, abnar-2020 and chefer-2021, entry by entry."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.relevance.relevance import gradient_attention
from tests.precompute.corpora.tiny import unhurried

Vector = list[float]
Matrix = list[Vector]


def weighed_rows(start: Vector, matrix: Matrix) -> Vector:
    """Sum of the rows of a matrix, weighted by `start`."""
    n = len(matrix[0])
    return [sum(start[i] * row[j] for i, row in enumerate(matrix)) for j in range(n)]


def slow_gradients(
    attention: list[list[Matrix]], gradients: list[list[Matrix]], start: Vector
) -> Vector:
    """R = I, then R = R + E_h((∇A ⊙ A)⁺) R in every layer; the start's rows, 1 in sum."""
    n = len(start)
    relevance = [[float(i == j) for j in range(n)] for i in range(n)]
    for heads, slopes in zip(attention, gradients, strict=True):
        mean = [
            [
                sum(
                    max(0.0, weights[i][j] * slope[i][j])
                    for weights, slope in zip(heads, slopes, strict=True)
                )
                / len(heads)
                for j in range(n)
            ]
            for i in range(n)
        ]
        relevance = [
            [
                relevance[i][j] + sum(mean[i][k] * relevance[k][j] for k in range(n))
                for j in range(n)
            ]
            for i in range(n)
        ]
    row = weighed_rows(start, relevance)
    return [value / sum(row) for value in row]


def start_of(n: int) -> torch.Tensor:
    start = torch.zeros(n, dtype=torch.float64)
    start[0], start[-1] = 0.75, start[-1] + 0.25
    return start / start.sum()


def drawn(seed: int, n_layers: int = 3) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    draw = np.random.default_rng(seed)
    shape = (n_layers, 2, 4, 4)
    attention = torch.from_numpy(draw.normal(size=shape)).softmax(dim=-1)
    return list(attention), list(torch.from_numpy(draw.normal(size=shape)))


@given(st.integers(0, 2**31))
@unhurried()
def test_gradient_attention_follows_its_slow_twin_and_sums_to_1(seed):
    attention, gradients = drawn(seed)
    relevance = gradient_attention(attention, gradients, start_of(4))
    expected = slow_gradients(
        [layer.tolist() for layer in attention],
        [layer.tolist() for layer in gradients],
        start_of(4).tolist(),
    )
    np.testing.assert_allclose(relevance, expected, rtol=1e-9)
    assert (relevance >= 0).all()
    assert relevance.sum().item() == pytest.approx(1)


def test_only_gradients_that_speak_for_the_class_count():
    attention, gradients = drawn(0)
    start = start_of(4)
    against = [-gradient.abs() for gradient in gradients]
    np.testing.assert_allclose(gradient_attention(attention, against, start), start)
    beside = [torch.cat([g, -g.abs()]) for g in gradients]
    twice = [torch.cat([a, a]) for a in attention]
    halved = gradient_attention(attention, [g / 2 for g in gradients], start)
    np.testing.assert_allclose(gradient_attention(twice, beside, start), halved)
