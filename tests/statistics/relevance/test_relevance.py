"""Propagation of relevance, published methods and summaries, against loops, by hand, and laws."""

from math import log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.relevance.relevance import (
    Relevance,
    carried_relevance,
    gradient_attention,
    value_distances,
)
from analysis.measures.relevance.relevance_summary import QUANTITIES, relevance_summary
from analysis.relevance_rules import RULES
from tests.precompute.corpora.tiny import unhurried

LAYERS, HEADS, TOKENS, WIDTH = 3, 2, 5, 4


def carried(attention, values, start=None, *, dtype=torch.float64) -> Relevance:
    """One sequence without padding; layer, head and token are the first axes of what is given."""
    attention = torch.as_tensor(attention, dtype=dtype)[:, None]
    values = torch.as_tensor(values, dtype=dtype)[:, None]
    n = attention.shape[-1]
    start = torch.eye(n)[0] if start is None else torch.as_tensor(start)
    return carried_relevance(
        list(attention),
        list(values),
        start=start[None].to(dtype),
        is_token=torch.ones(1, n, dtype=torch.bool),
    )


def random_layers(seed: int, *, sharpness: float = 2.0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = np.random.default_rng(seed)
    scores = torch.from_numpy(draw.normal(0, sharpness, (LAYERS, HEADS, TOKENS, TOKENS)))
    return scores.softmax(dim=-1), torch.from_numpy(
        draw.normal(size=(LAYERS, HEADS, TOKENS, WIDTH))
    )


def test_three_tokens_worked_by_hand_tell_the_four_rules_apart():
    attention = [[[[1 / 2, 1 / 4, 1 / 4], [1, 0, 0], [0, 1, 0]]]]
    maps = carried(attention, [[[[0.0], [0.0], [3.0]]]]).heads.maps[:, 0, 0, 0]
    expected = [[3 / 4, 1 / 8, 1 / 8], [2 / 3, 1 / 9, 2 / 9], [4 / 7, 0, 3 / 7], [2 / 5, 0, 3 / 5]]
    np.testing.assert_allclose(maps, expected, atol=1e-15)


@given(st.integers(0, 2**31), st.sampled_from([0.1, 2.0, 40.0]))
@unhurried(25)
def test_relevance_is_conserved_and_never_negative(seed, sharpness):
    attention, values = random_layers(seed, sharpness=sharpness)
    single = carried(attention, values, dtype=torch.float32)
    for relevance in single.heads, single.mean_weights:
        assert (relevance.maps >= 0).all()
        np.testing.assert_allclose(relevance.maps.sum(dim=-1), 1, atol=1e-5)
        assert (relevance.conservation_error <= 1e-5).all()


def test_a_start_that_does_not_sum_to_1_is_seen_as_an_error_of_conservation():
    attention, values = random_layers(0)
    relevance = carried(attention, values, [0.5, 0, 0, 0.25, 0])
    np.testing.assert_allclose(relevance.heads.conservation_error, 0.25)


def test_constant_values_keep_relevance_in_place_and_are_counted():
    attention, _ = random_layers(3)
    relevance = carried(attention, torch.full((LAYERS, HEADS, TOKENS, WIDTH), 0.1))
    for rule in ("ii", "iii", "iv"):
        maps = relevance.heads.maps[RULES.index(rule), 0]
        assert (maps[..., 0] == 1).all(), rule
    n_layers = torch.arange(1, LAYERS + 1)[:, None].expand(-1, HEADS)
    expected = torch.stack([0 * n_layers, n_layers, 0 * n_layers, n_layers])
    assert (relevance.heads.n_in_place[:, 0] == expected).all()
    assert (relevance.heads.conservation_error[1:] == 0).all()
    assert (relevance.heads.maps[0, 0, ..., 0] < 1).all()


def test_activations_too_small_to_divide_by_lose_nothing():
    """Token 0 is the mean itself and looks away only at a weight at the edge of float32."""
    attention = [[[[1, 1e-45, 0], [0, 1, 0], [0, 0, 1]]]]
    relevance = carried(attention, [[[[0.0], [1.0], [-1.0]]]], dtype=torch.float32).heads
    assert torch.isfinite(relevance.maps).all()
    np.testing.assert_allclose(relevance.maps.sum(dim=-1), 1, atol=1e-6)
    assert relevance.n_in_place[:, 0, 0, 0].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_values_that_are_nearly_alike_are_told_apart(offset):
    draw = np.random.default_rng(4)
    values = (offset + 1e-3 * draw.normal(size=(1, 1, 6, 16))).astype(np.float32)
    deviation, distance = value_distances(
        torch.from_numpy(values), torch.ones(1, 6, dtype=torch.bool)
    )
    exact = values[0, 0].astype(np.float64)
    expected = np.linalg.norm(exact[:, None] - exact, axis=-1)
    np.testing.assert_allclose(distance[0, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(
        deviation[0, 0], np.linalg.norm(exact - exact.mean(axis=0), axis=-1), rtol=1e-6
    )


def test_padding_is_in_no_mean():
    values = torch.tensor([[[[0.0], [2.0], [100.0]]]])
    deviation, _ = value_distances(values, torch.tensor([[True, True, False]]))
    assert deviation[0, 0].tolist() == [1, 1, 0]


def test_a_head_of_tiny_values_is_no_other_beside_one_of_huge_values():
    """The largest deviation is that of a head by itself, since no rule sees a scale in it."""
    attention, values = random_layers(6)
    by_itself = carried(attention[:, :1], values[:, :1]).heads
    scaled = torch.stack([1e-30 * values[:, 0], 1e15 * values[:, 1]], dim=1)
    both = carried(attention, scaled, dtype=torch.float32).heads
    ii = RULES.index("ii")
    np.testing.assert_allclose(both.maps[ii, :, :, 0], by_itself.maps[ii, :, :, 0], atol=1e-5)
    assert not both.n_in_place[ii].any()


def slow_gradients(attention, gradients, start) -> np.ndarray:
    """R = I, then R = R + E_h((∇A ⊙ A)⁺) R in every layer; the start's rows, 1 in sum."""
    relevance = np.eye(len(start))
    for heads, slopes in zip(attention, gradients, strict=True):
        mean = (heads * slopes).clip(min=0).mean(axis=0)
        relevance = relevance + mean @ relevance
    return start @ relevance / (start @ relevance).sum()


START = torch.tensor([0.75, 0, 0, 0.25], dtype=torch.float64)


def drawn(seed: int, n_layers: int = 3) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    draw = np.random.default_rng(seed)
    shape = (n_layers, 2, 4, 4)
    attention = torch.from_numpy(draw.normal(size=shape)).softmax(dim=-1)
    return list(attention), list(torch.from_numpy(draw.normal(size=shape)))


@given(st.integers(0, 2**31))
@unhurried()
def test_gradient_attention_follows_its_slow_twin_and_sums_to_1(seed):
    attention, gradients = drawn(seed)
    relevance = gradient_attention(attention, gradients, START)
    maps, slopes = ([layer.numpy() for layer in of] for of in (attention, gradients))
    expected = slow_gradients(maps, slopes, START.numpy())
    np.testing.assert_allclose(relevance, expected, rtol=1e-9)
    assert (relevance >= 0).all()
    assert relevance.sum().item() == pytest.approx(1)


def summaries(maps, *, n_special=1, has_cls=True, coverage=None) -> list[dict[str, float]]:
    """Numbers of maps whose first tokens are special, the very first of them [CLS]."""
    maps = np.asarray(maps, dtype=float)
    places = np.arange(maps.shape[1])
    numbers = relevance_summary(
        maps,
        is_cls=(places == 0) & has_cls,
        is_content=places >= n_special,
        coverage=None if coverage is None else np.asarray(coverage, dtype=float),
    )
    return [dict(zip(QUANTITIES, row, strict=True)) for row in numbers.tolist()]


OF_TWO = {"entropy": log(2), "evenness": 1, "top5_share": 0.5}


@pytest.mark.parametrize(
    ("relevance", "given", "expected"),
    [
        (
            [0.2, 0.1, 0.1, 0.4, 0.2],
            {"coverage": [1, 0.5, 0, np.nan]},
            {"cls_share": 0.2, "special_share": 0.2, "entropy": 1.75 * log(2), "evenness": 0.875}
            | {"top5_share": 0.5, "mask_share": 0.25, "mask_chance": 0.5, "pointing": 0},
        ),
        (
            [0.4, 0.3, 0.3],
            {"coverage": [1, 0.5]},
            {"cls_share": 0.4, "special_share": 0.4, **OF_TWO}
            | dict.fromkeys(("mask_share", "mask_chance", "pointing"), 0.75),
        ),
        (
            [0.1, 0.1, 0.8],
            {"n_special": 2},
            {"cls_share": 0.1, "special_share": 0.2, "entropy": 0, "top5_share": 1},
        ),
        ([0.3, 0.3], {"n_special": 0, "has_cls": False}, {"special_share": 0, **OF_TWO}),
        (
            [1.0, 0.0, 0.0],
            {"coverage": [1, 0]},
            {"cls_share": 1, "special_share": 1, "mask_chance": 0.5},
        ),
        (
            [0.0, 0.0, 1.0],
            {"coverage": [0.5, np.nan]},
            {"cls_share": 0, "special_share": 0, "entropy": 0, "evenness": 0, "top5_share": 1}
            | {"mask_chance": 0.5},
        ),
        (
            [0.2, 0.4, 0.4],
            {"coverage": [np.nan, np.nan]},
            {"cls_share": 0.2, "special_share": 0.2, **OF_TWO},
        ),
    ],
    ids=["whole", "ties", "one patch", "nothing special", "no content", "none known of", "no mask"],
)
def test_a_map_has_the_numbers_reckoned_by_hand_and_no_others(relevance, given, expected):
    (found,) = summaries([relevance], **given)
    assert found == pytest.approx(dict.fromkeys(QUANTITIES, np.nan) | expected, nan_ok=True)


@pytest.mark.parametrize(("n", "n_top"), [(1, 1), (20, 1), (21, 2), (140, 7), (196, 10)])
def test_five_in_a_hundred_are_counted_without_rounding(n, n_top):
    (summary,) = summaries([[0.0, *range(n, 0, -1)]])
    total = n * (n + 1) / 2
    assert summary["top5_share"] == pytest.approx(sum(range(n, n - n_top, -1)) / total)
