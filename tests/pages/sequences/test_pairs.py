"""Pairs of one text are shown with their means in the corpus."""

import re
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.pairs import pair_delta, pair_occurrence
from pages.sequences.changes import LEAST, extremes, with_distance
from tests.pages.conftest import charts
from tests.pages.kit.figures import frame_of

POSITION = re.compile("[₀-₉]+")
DIRECTIONS = ("amplified", "attenuated")
TOKEN_IDS = "select token_id from token where seq = 0 order by pos"


def test_changes_and_means_are_those_of_the_file(section, exported, store):
    section("pairs")
    kept = {(row.source_pos, row.target_pos): row.delta for row in kept_changes(store)}
    ids = [token_id for (token_id,) in store.execute(TOKEN_IDS).fetchall()]
    n_checked = 0
    for row in rows(*(frame_of(exported, f"seq_pairs_{direction}") for direction in DIRECTIONS)):
        source, target = (int(normalize("NFKC", digits)) for digits in POSITION.findall(row.pair))
        mean = mean_of(store, ids[source], ids[target], layer=1, effect="ff")
        if mean.n > 1:
            np.testing.assert_allclose(row.in_points_mean_delta, 100 * mean.mean_delta, atol=1e-9)
            np.testing.assert_allclose(row.in_points_low, 100 * mean.low, atol=1e-9)
            n_checked += 1
        if (source, target) in kept:
            np.testing.assert_allclose(row.in_points_delta, 100 * kept[source, target], atol=2e-4)
            n_checked += 1
    assert n_checked > 10, "this test could not have failed"


def rows(*frames: pd.DataFrame) -> list[Any]:
    return list(pd.concat(frames).itertuples())


def kept_changes(store) -> list[Any]:
    return rows(pair_occurrence.of_sequence(store, seq=0, layer=1, effect="ff"))


def mean_of(store, source: int, target: int, *, layer: int, effect: str) -> Any:
    """The file's row on one pair."""
    means = pair_delta.of_pair(store, source_id=source, target_id=target)
    (row,) = rows(means[(means["layer"] == layer) & (means["effect"] == effect)])
    return row


def test_means_of_some_tokens_are_those_of_every_pair_of_them(store):
    step: Any = {"layer": 2, "effect": "ff_ln"}
    means = rows(pair_delta.of_tokens(store, **step, tokens=[5, 6, 7]))
    for row in means:
        same = mean_of(store, row.source_id, row.target_id, **step)
        assert (row.n, row.mean_delta) == (same.n, same.mean_delta)
        np.testing.assert_equal((row.low, row.high), (same.low, same.high))
    assert means


def test_only_pairs_that_occur_often_enough_are_far_from_their_mean():
    changes = pd.DataFrame(
        {"delta": 0.3, "mean_delta": 0.1, "std_delta": 0.05, "n": [LEAST - 1, LEAST]}
    )
    assert np.isnan(with_distance(changes)["distance"][0])
    assert with_distance(changes)["distance"][1] == pytest.approx(4.0)


def test_the_first_pairs_of_a_direction_go_that_way():
    changes = pd.DataFrame(
        {"delta": [0.1, -0.2, 0.3, -0.1], "source_pos": range(4), "target_pos": range(4)}
    )
    assert extremes(changes, amplified=True, n=3)["delta"].tolist() == [0.3, 0.1]
    assert extremes(changes, amplified=False, n=1)["delta"].tolist() == [-0.2]


def test_without_the_model_the_kept_changes_are_listed(section, changed, tmp_path, exported, store):
    folder = changed(f"update stored.run set model = '{tmp_path / 'model-bert'}'")
    session = section("pairs", folder)
    assert session.warning
    assert charts(session)
    kept = pair_occurrence.of_sequence(store, seq=0, layer=1, effect="ff")["delta"]
    shown = frame_of(exported, "seq_pairs_amplified")["in_points_delta"]
    assert shown.max() == pytest.approx(100 * kept.max())
