"""Kinds of attention by relative position: planted ones are found, and heads belong to them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.positions import profile_clusters as measure
from analysis.measures.positions.profile_clusters import (
    centre_names,
    nearest_centres,
    profile_centres,
)
from tests.tiny import HEADS, LAYERS

_QUARTERS = st.integers(0, 8).map(lambda n: n / 4)
OFFSETS = np.arange(-2, 3)


PLANTED = np.array([[0, 0.9, 0, 0, 0], [0.1, 0, 0, 0, 0.1], [0, 0.05, 0.1, 0.5, 0]])


def _planted(n, *, seed):
    """Profiles around the planted centres, and the centre of each."""
    draw = np.random.default_rng(seed)
    of = draw.integers(len(PLANTED), size=n)
    return PLANTED[of] + draw.normal(scale=0.01, size=(n, 5)), of


def test_planted_clusters_are_found_again():
    profiles, of = _planted(300, seed=0)
    clustering = profile_centres(profiles, 3, seed=0)
    assert clustering is not None
    np.testing.assert_allclose(clustering.centres, PLANTED[[0, 2, 1]], atol=0.005)
    assert clustering.sizes.tolist() == np.bincount(of)[[0, 2, 1]].tolist()
    assert (np.array([0, 2, 1])[nearest_centres(profiles, clustering.centres)] == of).all()
    within = np.square(profiles - clustering.centres[np.array([0, 2, 1])[of]]).sum()
    total = np.square(profiles - profiles.mean(axis=0)).sum()
    assert clustering.explained == pytest.approx(1 - within / total)


def test_there_are_no_more_clusters_than_profiles_that_differ():
    profiles = np.repeat(np.eye(5)[:3], 4, axis=0)
    three = profile_centres(profiles, 3, seed=0)
    assert three is not None
    assert three.explained == pytest.approx(1)
    assert profile_centres(profiles, 4, seed=0) is None


def test_of_very_many_profiles_a_sample_is_taken(monkeypatch):
    monkeypatch.setattr(measure, "FITTED", 90)
    clustering = profile_centres(_planted(300, seed=3)[0], 3, seed=0)
    assert clustering is not None
    assert clustering.sizes.sum() == 90
    np.testing.assert_allclose(clustering.centres, PLANTED[[0, 2, 1]], atol=0.01)


@pytest.mark.parametrize(
    ("centre", "name"),
    [
        ([0, 0.4, 0, 0, 0], "previous_strong"),
        ([0, 0.39, 0, 0, 0], "previous_moderate"),
        ([0, 0.3, 0, 0.15, 0], "both_moderate"),
        ([0, 0.3, 0, 0.14, 0], "previous_moderate"),
        ([0.01, 0.02, 0.02, 0.04, 0.09], "next_weak"),
        ([0, 0.1, 0.6, 0.1, 0], "self_strong"),
        ([0.1, 0.2, 0.5, 0.1, 0.1], "both_strong"),
        ([0, 0, 0, 0, 0], "both_weak"),
    ],
)
def test_a_centre_is_named_by_its_direction_and_its_peak(centre, name):
    assert centre_names(np.array([centre], dtype=float), OFFSETS) == [name]


@given(st.lists(st.sampled_from([0.9, 0.2, 0.05]), min_size=1, max_size=12))
def test_no_two_centres_share_a_name(peaks):
    centres = np.outer(sorted(peaks, reverse=True), np.eye(5)[1])
    names = centre_names(centres, OFFSETS)
    assert len(set(names)) == len(names)
    strong = [name for name in names if name.startswith("previous_strong")]
    numbered = [f"previous_strong_{place}" for place in range(2, len(strong) + 1)]
    assert strong == (["previous_strong", *numbered] if strong else [])


def test_the_same_seed_draws_the_same_sample(monkeypatch):
    monkeypatch.setattr(measure, "FITTED", 90)
    profiles = np.random.default_rng(4).random((300, 5))
    first, again = (profile_centres(profiles, 3, seed=7) for _ in range(2))
    assert first is not None
    assert again is not None
    np.testing.assert_array_equal(first.centres, again.centres)
    assert first.explained == again.explained


@given(
    arrays(np.float64, (6, 4), elements=_QUARTERS), arrays(np.float64, (3, 4), elements=_QUARTERS)
)
def test_the_nearest_centre_is_at_the_smallest_distance_and_the_first_of_several(profiles, centres):
    distances = np.square(profiles[:, None] - centres).sum(axis=-1)
    np.testing.assert_array_equal(nearest_centres(profiles, centres), distances.argmin(axis=1))


def test_clusters_share_all_texts_of_every_head(position_store, position_traces):
    every = position_store.execute("from relative_position_centre").df()
    explained = every.groupby("k")["explained"].first()
    assert explained.index.tolist() == list(range(2, 13))
    assert (np.diff(explained) > 0).all()
    for k in (2, 6, 12):
        centres = every[every["k"] == k]
        assert centres["cluster"].nunique() == k
        sizes = centres.groupby("cluster")["n"].first()
        assert sizes.sum() == len(position_traces) * LAYERS * HEADS
        shares = position_store.execute("from relative_position_clustering where k = ?", [k]).df()
        by_head = shares.groupby(["layer", "head"])["share"].sum()
        assert len(by_head) == LAYERS * HEADS
        np.testing.assert_allclose(by_head, 1)
        of_cluster = shares.groupby("cluster")["share"].sum() * len(position_traces)
        np.testing.assert_allclose(of_cluster, sizes[of_cluster.index])
