"""Lists of pairs are those of the file, and what the model computes agrees with it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from analysis.scopes import POST_NORM
from pages.services import live_model
from pages.token_pairs.charts import grid, pair_rows
from pages.token_pairs.lists import CHANGE, HIGH, LOW, with_pair_names
from pages.token_pairs.pair import PAGE
from pages.token_pairs.pair import PAGE as A_PAGE
from pages.token_pairs.ranking import listed
from pages.words.scope import words_of
from tests.pages.conftest import bodies, frames, in_address, sentences
from tests.pages.kit.openings import click
from tests.pages.kit.ran import Ran, ran
from tests.pages.kit.stores import changed_copy

pytestmark = pytest.mark.slow
OF_PAGE = "token_pairs"
PAIR = {"source": "cat", "target": "sat"}
CHOSEN = {f"tp_{side}": token for side, token in PAIR.items()}
PLANTED = (
    "update stored.pair_delta set error_ff = error_ff / 64 where (source + target) % 3 = 0",
    "update stored.pair_extreme set error = error / 64 where (source + target) % 3 = 0",
)


def pairs_of(frame) -> list[tuple[str, str, float]]:
    """Pairs with their changes in percentage points."""
    shown = frame if CHANGE in frame else with_pair_names(frame)
    return list(zip(shown["source"], shown["target"], shown[CHANGE].round(6), strict=True))


def chosen(session) -> tuple[str, str]:
    """The pair that is looked at."""
    entered = (session.text_input(key=f"tp_{side}") for side in PAIR)
    source, target = (entry.value or entry.placeholder for entry in entered)
    return source, target


@pytest.fixture
def ids(store) -> dict[str, int]:
    named = dict(store.execute("select token, token_id from vocabulary").fetchall())
    return {f"{side}_id": named[token] for side, token in PAIR.items()}


@pytest.fixture
def pairs(monkeypatch, store_folder) -> Callable[..., Ran]:
    """Run a section on pairs."""

    def run(stem: str, folder: Path = store_folder, **choices: str) -> Ran:
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        return ran("token_pairs", stem, **choices)

    return run


def table_of(section: Ran) -> pd.DataFrame:
    """The list beside the chart."""
    return section.one("pairs_table").shown.frame


@pytest.mark.parametrize("direction", ["amplified", "attenuated"])
def test_lists_are_those_of_the_file_and_begin_with_the_papers(direction, pairs, store):
    asked = {"order": direction, "min_count": 2}
    expected = listed(store, layers=[1, 2], effect="ff", rank="mean", limit=10, **asked)
    shown = pairs("tables").keyed(f"tp_tables_{direction}")
    assert pairs_of(shown) == pairs_of(expected)
    section = pairs("workbench", tp_layer="2", tp_effect="ff_ln", tp_direction=direction)
    expected = listed(store, layers=[2], effect="ff_ln", limit=1000, **asked)
    assert pairs_of(table_of(section)) == pairs_of(expected)
    assert pairs_of(section.keyed("tp_workbench_pairs_2")) == pairs_of(expected)[:24]
    first, second = pairs_of(expected)[0][:2]
    assert f"{first} → {second}" in section.said.replace("\\", "")


@pytest.mark.parametrize(
    ("choices", "holds"),
    [
        (
            {"tp_source_text": '"cat"', "tp_target_text": "t", "tp_special": "out"},
            lambda row: row.source == "cat" and "t" in row.target and "[" not in row.target,
        ),
        (
            {"tp_relation": "adjacent", "tp_least": "4"},
            lambda row: row.relation_named == "neighbours",
        ),
        ({"tp_text": "CAT"}, lambda row: "cat" in row.source or "cat" in row.target),
    ],
)
def test_what_is_listed_fulfils_every_condition(choices, holds, pairs):
    section = pairs("workbench", tp_direction="both", **choices)
    everything: Any = table_of(pairs("workbench", tp_direction="both", tp_least="1"))
    least = int(choices.get("tp_least", 2))
    fits = [row for row in everything.itertuples() if holds(row) and row.n >= least]
    shown = table_of(section)
    assert len(shown) == len(fits)
    assert all(map(holds, shown.itertuples()))


def test_a_pair_has_the_numbers_of_the_file(pairs, answers, ids):
    section = pairs("workbench", **CHOSEN)
    ((n, n_sequences, pmi),) = answers(
        """
        select n, n_sequences, pmi from pair
        join vocabulary as s on s.token_id = source join vocabulary as t on t.token_id = target
        where s.token = 'cat' and t.token = 'sat'
        """
    )
    assert f"**{n}** occurrences in **{n_sequences}** sequences" in section.said
    assert f"PMI **{pmi:.2f}** bits".replace("-", "−") in section.said
    steps = section.keyed("tp_workbench_modules")
    [means] = answers(
        f"""
        select columns(['mean_' || name for name in {[*POST_NORM.effects]}]) from pair_delta_wide
        where layer = 1 and source = {ids["source_id"]} and target = {ids["target_id"]}"""
    )
    np.testing.assert_allclose(steps[CHANGE], 100 * np.array(means), atol=1e-9)
    assert "no PMI" in pairs("workbench", tp_source="[CLS]", tp_target="sat").said


@pytest.mark.parametrize("rank", ["bound", "mean"])
def test_what_is_faint_has_no_interval_without_0(rank, pairs, store_folder, tmp_path):
    planted = changed_copy(store_folder, tmp_path, *PLANTED)
    shown = {
        "tp_tables_amplified": (pairs("tables", planted, tp_ranking=rank), grid),
        "tp_workbench_pairs_1": (
            pairs("workbench", planted, tp_rank=rank, tp_direction="both"),
            pair_rows,
        ),
    }
    for key, (section, chart) in shown.items():
        frame = section.keyed(key)
        clear = (frame[LOW] > 0) | (frame[HIGH] < 0)
        assert 0 < clear.sum() < len(frame) or (key, rank) == ("tp_workbench_pairs_1", "bound")
        with words_of("token_pairs", "workbench"):
            drawn = chart(frame, "pairs", PAIR)
        data = [part.data for part in (*drawn.layer, drawn)]
        rows = [part for part in data if isinstance(part, pd.DataFrame) and "clear" in part]
        assert {tuple(part["clear"]) for part in rows} == {tuple(clear)}


def test_every_place_where_it_stands_is_marked_once(section, store, ids):
    places = store.execute(
        """
        select seq, s.pos as source_pos, t.pos as target_pos from token as s join token as t
        using (seq) where s.token_id = $source_id and t.token_id = $target_id and s.pos <> t.pos""",
        ids,
    ).df()
    pages = -(-len(places) // A_PAGE)
    assert pages > 1, "this test could not have failed"
    shown = []
    for page in range(1, pages + 1):
        session = section("workbench", **({"tp_page": str(page)} if page > 1 else {}), **CHOSEN)
        texts = [part for part in bodies(session).split('class="an-text"') if "title=" in part]
        for text in texts:
            spans = re.findall(r'<span class="an-(\w+)"[^>]*>([^<]*)<', text)
            assert sorted(spans) == [("source", "cat"), ("target", "sat")]
        shown += re.findall(
            r"Sequence (\d+), source at position (\d+), target at position (\d+)",
            sentences(session),
        )
    expected = places[["seq", "source_pos", "target_pos"]].astype(str)
    assert sorted(shown) == sorted(expected.itertuples(index=False, name=None))


def test_pairs_are_a_click_or_a_key_away_and_newer_choices_stay(section, store):
    session = section("workbench", tp_page="2", **CHOSEN)
    row = frames(session)[0].iloc[1]
    click(session, "tp_pairs_table", "rows", 1)
    assert chosen(session) == (row["source"], row["target"])
    assert session.session_state["tp_page"] == 1
    session.button(key="tp_swap").click().run()
    assert chosen(session) == (row["target"], row["source"])
    asked = {"effect": "ff", "order": "amplified", "min_count": 2, "limit": 1000}
    rows = listed(store, layers=[1], **asked)
    session = section("workbench")
    assert session.button(key="tp_before").disabled
    session.button(key="tp_after").click().run()
    assert chosen(session) == (rows["source"][1], rows["target"][1])
    session.run()
    assert in_address(session, "tp_source") == [rows["source"][1]]


LIVE = {"tp_live": "live"}


def unstored(store) -> tuple[str, str]:
    """A pair whose single changes are not stored in layer 1."""
    return store.execute(
        """
        select source, target from pair_delta where layer = 1 and effect = 'ff' and (source, target)
            not in (
                select s.token, t.token from pair_occurrence as pair
                join vocabulary as s on s.token_id = pair.source
                join vocabulary as t on t.token_id = pair.target
                where layer = 1 and effect = 'ff')
        order by all limit 1
        """
    ).fetchall()[0]


def test_changes_that_are_not_stored_are_computed(section, store):
    source, target = unstored(store)
    chosen = {"tp_source": source, "tp_target": target}
    assert "not stored" in sentences(section("workbench", **chosen))
    text = sentences(section("workbench", **chosen, **LIVE))
    assert "not stored" not in text
    [(n,)] = store.execute(
        "select n from pair_delta where layer = 1 and effect = 'ff' and (source, target) = (?, ?)",
        [source, target],
    ).fetchall()
    assert text.count(" points**") >= min(n, PAGE)


def warned(session: AppTest) -> str:
    """Warning of a section if the model cannot be run; its stored content must be there."""
    assert " points**" in sentences(session)
    (warning,) = session.warning
    return warning.value


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        ("run set model = '/gone/model-bert'", r"cannot be loaded.*No folder is called"),
        (
            "provenance set value = 'other' where name = 'model.weights'",
            "not the one that made this",
        ),
    ],
)
def test_a_model_that_is_gone_or_another_is_told(change, warning, section, changed):
    """Stored numbers are shown all the same."""
    assert re.search(
        warning, warned(section("workbench", changed(f"update stored.{change}"), **LIVE))
    )


def test_a_dashboard_without_torch_shows_what_is_stored(section, monkeypatch):
    st.cache_data.clear()
    monkeypatch.setattr(live_model, "find_spec", lambda name: None if name == "torch" else name)
    assert "not installed" in warned(section("workbench", **LIVE))
