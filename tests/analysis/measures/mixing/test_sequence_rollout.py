import numpy as np
import pytest

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.rollout import (
    DISTANCES,
    distance_places,
    rolled_out,
    shares_of_cells,
    with_residual,
)
from tests.reference.mixing import sequence_rollout as reference


@pytest.fixture(scope="module")
def maps(traced_alone) -> list[list[np.ndarray]]:
    """Maps of every layer of every sequence."""
    return [[layer_mixing(layer).maps.numpy() for layer in t.layers] for t in traced_alone]


def test_products_follow_their_slow_twin_entry_by_entry(maps):
    for layers in maps:
        for depth, product in enumerate(rolled_out(layers), start=1):
            for scope in range(len(product)):
                slow = reference.rollout([layer[scope].tolist() for layer in layers[:depth]])
                np.testing.assert_allclose(product[scope], slow, rtol=1e-9)


def test_the_residual_gets_half(traced_alone):
    attention = traced_alone[0].layers[0].attention[0].mean(dim=0).numpy()
    found = with_residual(attention)
    np.testing.assert_allclose(found, reference.with_residual(attention.tolist()))
    np.testing.assert_allclose(found.sum(axis=-1), 1)


def test_distances_fall_between_their_edges():
    distances = np.array(DISTANCES)[distance_places(200)[0]]
    expected = [next(e for e in reversed(DISTANCES) if e <= d) for d in range(200)]
    assert distances.tolist() == expected


def test_shares_follow_their_slow_twin_and_add_up_to_1(maps):
    names = ("cls", "sep", "other")
    for layers in maps:
        *_, product = rolled_out(layers)
        n = product.shape[-1]
        types = np.arange(n) * 7 % 3
        cells = types * len(DISTANCES) + distance_places(n)
        shares = shares_of_cells(product, cells, 3 * len(DISTANCES))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        for scope in range(len(product)):
            expected = reference.shares(product[scope].tolist(), [names[t] for t in types])
            there = {
                (names[cell // len(DISTANCES)], DISTANCES[cell % len(DISTANCES)]): share
                for cell, share in enumerate(shares[scope])
                if share
            }
            assert there == pytest.approx({place: s for place, s in expected.items() if s})
