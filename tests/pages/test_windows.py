"""Pairs where a layer looks through a window: those outside of it are named as such."""

from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import pytest

from pages.kit import search
from pages.token_pairs.pair import PAGE
from tests.pages.conftest import assert_sound, captions, sentences
from tests.pages.kit.ran import inquiry, ran, spoken
from tests.shared_store import shared_store

WINDOWED = {"modernbert": 2, "mistral": 1}
"""A layer of each family that looks through a window; of Mistral every layer does."""
REACH = {"modernbert": 2, "mistral": 4}
"""Reach of its windows, in tokens."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("family", [*WINDOWED], indirect=True, scope="session"),
]
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


@pytest.fixture
def outside(standing) -> dict[str, str]:
    """The choices of a pair that is always outside of the window of the layer."""
    source, target = next(pair for *pair, inside, _ in standing if not inside)
    return {"tp_source": source, "tp_target": target}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_pair_beyond_the_window_is_outside_of_it_and_its_line_breaks(
    lang, family, layer, store, outside
):
    with spoken(lang):
        section = ran("token_pairs", "workbench", **outside, tp_layer=layer)
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
        frame["in_points_mean_delta"], store.execute(MEAN, [other, *outside.values()]).fetchall()[0]
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


def test_the_model_computes_nothing_for_a_pair_outside_and_the_search_finds_it(
    store, layer, outside, opened, tmp_path_factory, family
):
    folder = shared_store(tmp_path_factory, family, statistics=STATISTICS).parent
    choices = {"tp_view": "workbench", "tp_live": "live", "tp_layer": layer, **outside}
    session = opened("token_pairs", folder, **choices)
    assert_sound(session)
    text = sentences(session) + captions(session)
    assert "outside of the window" in text
    assert "points**" not in text
    [place] = [
        place
        for place in search.places(inquiry(), " → ".join(outside.values()))
        if place.page == "token_pairs" and "tp_source" in place.choices
    ]
    assert place.choices == outside


DISTANCES = """
import streamlit as st
from pages.sequences.changes import changes
from pages.sequences.subject import pick_subject
from pages.services.chosen import open_store
from pages.kit.view import View
from pages.words.scope import words_of

view = View("te", "test", open_store())
with words_of("sequences", "pairs"):
    subject = pick_subject(view, {{}})
pairs = changes(view, subject | {{"layer": {layer}, "effect": "ff", "special": "in"}})["changes"]
distances = (pairs["target_pos"] - pairs["source_pos"]).tolist()
st.session_state["found"] = distances, int(pairs["n"].isna().sum())
"""


def test_pairs_of_a_text_are_those_inside_of_the_layers_window(
    in_session, tmp_path_factory, family, layer
):
    folder = shared_store(tmp_path_factory, family, statistics=STATISTICS).parent
    for of, far in ((layer, REACH[family]), (3 - layer, 36)):
        session = in_session(DISTANCES.format(layer=of), folder)
        assert_sound(session)
        distances, n_unknown = session.session_state["found"]
        found = Counter(map(int, distances))
        length = found[1] + 1
        reach = min(REACH[family] if family == "mistral" else far, length - 1)
        expected = {d: length - d for d in range(1, reach + 1)}
        both = expected | {-d: n for d, n in expected.items()}
        assert found == (both if family == "modernbert" else expected)
        assert n_unknown == 0
