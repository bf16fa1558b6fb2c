"""Lists of pairs are those of the file; pairs beyond a window are named as such."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.scopes import POST_NORM
from pages.kit import search
from pages.services import live_model
from pages.token_pairs.lists import CHANGE, with_pair_names
from pages.token_pairs.pair import PAGE
from pages.token_pairs.ranking import listed
from tests.pages.conftest import assert_sound, captions, frames, sentences
from tests.pages.kit.openings import click
from tests.pages.kit.ran import Ran, inquiry, ran
from tests.pages.kit.stores import folder_of
from tests.small_store import fetched

pytestmark = pytest.mark.slow
OF_PAGE = "token_pairs"
PAIR = {"source": "cat", "target": "sat"}
CHOSEN = {f"tp_{side}": token for side, token in PAIR.items()}


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


@pytest.mark.parametrize("direction", ["amplified", "attenuated"])
def test_lists_are_those_of_the_file_and_begin_with_the_papers(direction, pairs, store):
    asked = {"order": direction, "min_count": 2}
    expected = listed(store, layers=[1, 2], effect="ff", rank="mean", limit=10, **asked)
    assert pairs_of(pairs("tables").keyed(f"tp_tables_{direction}")) == pairs_of(expected)
    section = pairs("workbench", tp_layer="2", tp_effect="ff_ln", tp_direction=direction)
    expected = pairs_of(listed(store, layers=[2], effect="ff_ln", limit=1000, **asked))
    assert pairs_of(section.one("pairs_table").shown.frame) == expected
    assert pairs_of(section.keyed("tp_workbench_pairs_2")) == expected[:24]


@pytest.mark.parametrize(
    ("choices", "holds"),
    [
        (
            {"tp_source_text": '"cat"', "tp_target_text": "t", "tp_special": "out"},
            lambda row: row.source == "cat" and "t" in row.target and "[" not in row.target,
        ),
        (
            {"tp_relation": "adjacent", "tp_least": "4"},
            lambda row: row.relation_named == "neighbours" and row.n >= 4,
        ),
    ],
)
def test_what_is_listed_fulfils_every_condition(choices, holds, pairs):
    every = pairs("workbench", tp_direction="both").one("pairs_table").shown.frame
    shown = pairs("workbench", tp_direction="both", **choices).one("pairs_table").shown.frame
    assert 0 < len(shown) == sum(map(holds, every.itertuples()))
    assert all(map(holds, shown.itertuples()))


def test_a_pair_has_the_numbers_of_the_file(pairs, store, ids):
    section = pairs("workbench", **CHOSEN)
    pair = f"source = {ids['source_id']} and target = {ids['target_id']}"
    asked = store.execute(f"select n, n_sequences, pmi from pair where {pair}")
    [(n, n_sequences, pmi)] = asked.fetchall()
    assert f"**{n}** occurrences in **{n_sequences}** sequences" in section.said
    assert f"PMI **{pmi:.2f}** bits".replace("-", "−") in section.said
    effects = [f"mean_{name}" for name in POST_NORM.effects]
    means = f"select {', '.join(effects)} from pair_delta_wide where layer = 1 and {pair}"
    [means] = store.execute(means).fetchall()
    steps = section.keyed("tp_workbench_modules")
    np.testing.assert_allclose(steps[CHANGE], 100 * np.array(means), atol=1e-9)


def test_pairs_are_a_click_or_a_key_away(section):
    session = section("workbench", tp_page="2", **CHOSEN)
    row = frames(session)[0].iloc[1]
    click(session, "tp_pairs_table", "rows", 1)
    assert chosen(session) == (row["source"], row["target"])
    assert session.session_state["tp_page"] == 1
    session.button(key="tp_swap").click().run()
    assert chosen(session) == (row["target"], row["source"])


@pytest.mark.parametrize(
    ("statement", "warning"),
    [
        ("run set model = '/gone/model-bert'", r"cannot be loaded.*No folder is called"),
        ("provenance set value = 'other' where name = 'model.weights'", "not the one that made"),
        ("", "not installed"),
    ],
)
def test_without_the_model_what_is_stored_is_shown_with_a_warning(
    statement, warning, section, changed, monkeypatch
):
    if not statement:
        monkeypatch.setattr(live_model, "find_spec", lambda name: None)
    folder = changed(f"update stored.{statement}") if statement else None
    session = section("workbench", folder, tp_live="live")
    assert " points**" in sentences(session)
    assert re.search(warning, session.warning[0].value)


def test_changes_that_are_not_stored_are_computed(section, store):
    [(source, target, n)] = store.execute(
        """
        select source, target, n from pair_delta where layer = 1 and effect = 'ff'
            and (source, target) not in (
                select s.token, t.token from pair_occurrence as pair
                join vocabulary as s on s.token_id = pair.source
                join vocabulary as t on t.token_id = pair.target
                where layer = 1 and effect = 'ff')
        order by all limit 1
        """
    ).fetchall()
    pair = {"tp_source": source, "tp_target": target}
    assert "not stored" in sentences(section("workbench", **pair))
    text = sentences(section("workbench", **pair, tp_live="live"))
    assert "not stored" not in text
    assert text.count(" points**") >= min(n, PAGE)


mistral_folder = folder_of("mistral", statistics=["pair_occurrence", "pair_pmi_correlation"])
"""Of a model all of whose layers look through a window."""


def test_the_model_computes_nothing_for_a_pair_outside_and_the_search_finds_it(
    mistral_folder, opened, monkeypatch
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(mistral_folder))
    [(source, target), *_] = fetched(
        mistral_folder / "tiny.duckdb",
        """
        select s.token, t.token from token as s join token as t using (seq)
        where s.pos < t.pos and s.token_type in ('other', 'first') and t.token_type = 'other'
            and s.token_id <> t.token_id
        group by all having min(t.pos - s.pos) > (
            select string_split(value, ', ')[1]::int from provenance where name = 'windows')
        order by s.token, t.token
        """,
    )
    pair = {"tp_source": source, "tp_target": target}
    session = opened("token_pairs", mistral_folder, tp_view="workbench", tp_live="live", **pair)
    assert_sound(session)
    text = sentences(session) + captions(session)
    assert "outside of the window" in text
    assert "points**" not in text
    [place] = [
        place
        for place in search.places(inquiry(), f"{source} → {target}")
        if place.page == "token_pairs" and "tp_source" in place.choices
    ]
    assert place.choices == pair
