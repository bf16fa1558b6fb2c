"""Pairs where a layer looks through a window: those outside of it are named as such."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from pages.token_pairs.pair import PAGE
from tests.pages.kit.ran import ran, spoken
from tests.shared_store import shared_store

WINDOWED = {"gemma3_text": 1, "modernbert": 2, "mistral": 1}
"""A layer of each family that looks through a window; of Mistral every layer does."""
pytestmark = pytest.mark.parametrize("family", [*WINDOWED], indirect=True, scope="session")
STATISTICS = ["pair_occurrence", "pair_pmi_correlation"]
STANDING = """
    with window_size as (
        select string_split(value, ', ')[$layer]::int as size
        from provenance where name = 'windows')
    select s.token, t.token,
        count(*) filter (abs(s.pos - t.pos) <= (select size from window_size)) as inside,
        count(*) as everywhere
    from token as s join token as t using (seq)
    where s.pos < t.pos and s.token_type in ('other', 'first') and t.token_type = 'other'
        and s.token_id <> t.token_id
    group by all order by s.token, t.token
"""
"""Counts of two words one before the other, and of those inside of a layer's window."""
MEAN = """
    select 100 * mean_delta from pair_delta
    where layer = ? and effect = 'ff' and source = ? and target = ?
"""


@pytest.fixture
def layer(family: str) -> int:
    return WINDOWED[family]


@pytest.fixture
def store(family: str, tmp_path_factory, monkeypatch):
    path = shared_store(tmp_path_factory, family, statistics=STATISTICS)
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(path.parent))
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


@pytest.fixture
def standing(store, layer) -> list[tuple[str, str, int, int]]:
    return store.execute(STANDING, {"layer": layer}).fetchall()


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_pair_beyond_the_window_is_outside_of_it_and_its_line_breaks(
    lang, family, layer, store, standing
):
    source, target = next(pair for *pair, inside, _ in standing if not inside)
    with spoken(lang):
        address = {"tp_source": source, "tp_target": target, "tp_layer": layer}
        section = ran("token_pairs", "workbench", **address)
    text = section.said
    assert {"en": "outside of the window", "ja": "窓の外"}[lang] in text
    assert {"en": "does not occur", "ja": "出現しません"}[lang] not in text
    if family == "mistral":  # no layer mixes them
        assert not [item for item in section.shown if item.shown.name == "layers"]
        return
    other = 3 - layer
    frame = section.one("layers").shown.frame.dropna(subset="in_points_mean_delta")
    assert frame["layer"].tolist() == [other]
    np.testing.assert_allclose(
        frame["in_points_mean_delta"], store.execute(MEAN, [other, source, target]).fetchall()[0]
    )
    for rows in section.one("layers").shown.chart.to_dict()["datasets"].values():
        if "in_points_mean_delta" in rows[0]:
            missing = [row["layer"] for row in rows if pd.isna(row["in_points_mean_delta"])]
            assert missing == [layer]


def test_a_pair_that_is_inside_in_part_is_said_to_count_there_alone(layer, standing):
    orders = [pair for *pair, _, _ in standing]
    source, target, n, _ = next(
        row for row in standing if 0 < row[2] < row[3] <= PAGE and [row[1], row[0]] not in orders
    )
    address = {"tp_source": source, "tp_target": target, "tp_layer": layer}
    text = ran("token_pairs", "workbench", **address).said
    assert f"the {n} occurrences inside of its window count." in text
