"""The pairs of one text stand beside what the corpus does to them."""

import re
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from analysis.tables.pairs import pair_delta, pair_mean, pair_occurrence
from pages.sequences.changes import LEAST, extremes, with_distance
from tests.pages.conftest import charts
from tests.pages.kit.figures import frame_of

POSITION = re.compile("[₀-₉]+")


def test_changes_and_means_are_those_of_the_file(section, exported, store):
    section("pairs")
    kept = pair_occurrence.of_sequence(store, seq=0, layer=1, effect="ff").set_index(
        ["source_pos", "target_pos"]
    )
    ids = store.execute("select token_id from token where seq = 0 order by pos").df()["token_id"]
    found = 0
    for direction in ("amplified", "attenuated"):
        for row in frame_of(exported, f"seq_pairs_{direction}").itertuples():
            source, target = (int(normalize("NFKC", each)) for each in POSITION.findall(row.pair))
            means = pair_delta.of_pair(
                store, source_id=int(ids[source]), target_id=int(ids[target])
            )
            (mean,) = means[(means["layer"] == 1) & (means["effect"] == "ff")].itertuples()
            np.testing.assert_allclose(row.mean_delta, 100 * mean.mean_delta, atol=1e-9)
            np.testing.assert_allclose(row.low, 100 * mean.low, atol=1e-9)
            if (source, target) in kept.index:
                np.testing.assert_allclose(
                    row.delta, 100 * kept.loc[(source, target), "delta"], atol=2e-4
                )
                found += 1
    assert found, "this test could not have failed"


def test_means_of_some_tokens_are_those_of_every_pair_of_them(store):
    means = pair_mean.of_tokens(store, layer=2, effect="ff_ln", tokens=[5, 6, 7])
    for row in means.itertuples():
        whole = pair_delta.of_pair(store, source_id=row.source_id, target_id=row.target_id)
        (same,) = whole[(whole["layer"] == 2) & (whole["effect"] == "ff_ln")].itertuples()
        assert (row.n, row.mean_delta) == (same.n, same.mean_delta)
        np.testing.assert_equal((row.low, row.high), (same.low, same.high))
    assert len(means)


def test_only_pairs_that_occur_often_enough_are_far_from_their_mean():
    found = pd.DataFrame(
        {"delta": 0.3, "mean_delta": 0.1, "std_delta": 0.05, "n": [LEAST - 1, LEAST]}
    )
    assert np.isnan(with_distance(found)["distance"][0])
    assert with_distance(found)["distance"][1] == pytest.approx(4.0)


def test_the_first_pairs_of_a_direction_go_that_way():
    found = pd.DataFrame(
        {"delta": [0.1, -0.2, 0.3, -0.1], "source_pos": range(4), "target_pos": range(4)}
    )
    assert extremes(found, amplified=True, n=3)["delta"].tolist() == [0.3, 0.1]
    assert extremes(found, amplified=False, n=1)["delta"].tolist() == [-0.2]


def test_without_the_model_the_kept_changes_are_listed(section, changed, tmp_path, exported, store):
    folder = changed(f"update stored.run set model = '{tmp_path / 'model-bert'}'")
    session = section("pairs", folder)
    assert session.warning
    assert charts(session)
    kept = pair_occurrence.of_sequence(store, seq=0, layer=1, effect="ff")["delta"]
    shown = frame_of(exported, "seq_pairs_amplified")["delta"]
    assert shown.max() == pytest.approx(100 * kept.max())
