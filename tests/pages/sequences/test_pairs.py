"""Pairs of one text are shown with their means in the corpus."""

import re
from typing import Any, cast
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.pairs.changes import with_interval
from pages.sequences import changes
from tests.pages.kit.figures import frame_of

POSITION = re.compile("[₀-₉]+")
TOKEN_IDS = "select token_id from token where seq = 0 order by pos"
MEANS = """
    select mean_ff as mean_delta, error_ff as standard_error, degrees
    from pair_delta_wide where layer = 1 and source = ? and target = ?"""
KEPT = "from pair_occurrence where layer = 1 and effect = 'ff' and seq = 0"


def test_changes_and_means_are_those_of_the_file(section, exported, store):
    section("pairs")
    kept = store.execute(KEPT).df().set_index(["source_pos", "target_pos"])["delta"]
    ids = [token_id for (token_id,) in store.execute(TOKEN_IDS).fetchall()]
    frames = [frame_of(exported, f"seq_pairs_{name}") for name in ("amplified", "attenuated")]
    n_checked = 0
    every = cast(Any, pd.concat(frames))
    for row in every.itertuples():
        source, target = (int(normalize("NFKC", digits)) for digits in POSITION.findall(row.pair))
        if row.side == "here" and (source, target) in kept:
            np.testing.assert_allclose(row.in_points_delta, 100 * kept[source, target], atol=2e-4)
            n_checked += 1
        if row.side == "corpus":
            means = store.execute(MEANS, [ids[source], ids[target]]).df()
            [mean] = with_interval(means).itertuples()
            np.testing.assert_allclose(
                (row.in_points_delta, row.low), (100 * mean.mean_delta, 100 * mean.low), atol=1e-9
            )
            n_checked += 1
    assert n_checked > 10, "this test could not have failed"


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            {"delta": 0.3, "mean_delta": 0.1, "low": 0.05, "high": 0.15, "distance": 4.0, "n": 5},
            [("change", 30.0), ("mean", 10.0), ("far", 1.0), ("bell", 0.0455)],
        ),
        (
            {"delta": -0.3, "mean_delta": np.nan, "low": np.nan, "high": np.nan}
            | {"distance": np.nan, "n": 4},
            [("change", -30.0)],
        ),
    ],
)
def test_the_finding_tells_the_largest_change_and_pairs_far_from_their_mean(rows, found):
    frame = pd.DataFrame([rows | {"pair": "a → b"}])
    given = {"layer": 1, "effect": "ff", "changes": frame}
    made = changes.found(None, given)  # pyright: ignore[reportArgumentType]
    assert [*zip(made["name"], made["value"].round(4), strict=True)] == found
