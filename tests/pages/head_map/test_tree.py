"""The tree read off its steps, against SciPy's own reading of it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.spatial.distance import pdist

from pages.head_map.tree import Tree


def drawn(seed: int, n: int) -> tuple[np.ndarray, Tree]:
    points = np.random.default_rng(seed).normal(size=(n, 3))
    steps = linkage(pdist(points), method="average", optimal_ordering=True)
    frame = pd.DataFrame(steps, columns=["left", "right", "height", "n_heads"])
    return steps, Tree(frame.astype({"left": int, "right": int, "n_heads": int}))


@settings(deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(2, 12), data=st.data())
def test_leaves_and_groups_are_those_of_scipy(seed, n, data):
    steps, tree = drawn(seed, n)
    k = data.draw(st.integers(1, n))
    assert tree.leaves == leaves_list(steps).tolist()
    groups, expected = tree.groups(k), fcluster(steps, k, criterion="maxclust")
    assert len(set(groups)) == k
    assert len(set(zip(groups.tolist(), expected.tolist(), strict=True))) == k
    assert groups[tree.leaves].tolist() == sorted(groups.tolist()), "groups lie side by side"


@settings(deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(2, 12), data=st.data())
def test_the_cut_crosses_as_many_branches_as_there_are_groups(seed, n, data):
    _, tree = drawn(seed, n)
    k = data.draw(st.integers(2, n))
    branches, cut = tree.branches(k), tree.cut(k)
    assert len(branches) == 3 * (n - 1)
    along = branches[branches["y"] == branches["y2"]]
    crossed = along[(along["x"] <= cut) & (along["x2"] > cut)]
    assert len(crossed) == k
    assert set(crossed["group"]) == set(range(1, k + 1))
    above = branches[branches["x"] > cut]
    assert (above["group"] == 0).all()


def test_two_heads_are_a_tree_of_one_step():
    tree = Tree(pd.DataFrame({"left": [0], "right": [1], "height": [0.4], "n_heads": [2]}))
    assert tree.leaves == [0, 1]
    assert tree.groups(2).tolist() == [1, 2]
    assert tree.cut(2) == pytest.approx(0.2)
