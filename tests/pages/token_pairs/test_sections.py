"""Every section shows the numbers that the file holds."""

import re
from html import unescape
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.pairs import pair_delta
from pages.token_pairs.grid import picture
from pages.token_pairs.lists import CHANGE, DIRECTIONS, in_points
from pages.token_pairs.pmi import _finding
from pages.token_pairs.workbench import ROWS
from pages.ui.export import files as export
from pages.ui.words.scope import words_of
from tests.pages.conftest import bodies, captions, charts, frames, sentences
from tests.pages.kit.copies import changed_copy
from tests.pages.kit.figures import frame_of
from tests.pages.kit.inquiries import view_of
from tests.pages.kit.section_checks import stems

VIEW = view_of("tp", "pmi")


def pairs_of(frame) -> list[tuple[str, str, float]]:
    """Pairs with their changes in percentage points."""
    deltas = in_points(frame)[CHANGE].round(6)
    return list(zip(frame["source"], frame["target"], deltas, strict=True))


def test_every_pair_of_every_layer_is_in_the_overview(section, store):
    shown = unescape(bodies(section("tables", tp_effect="ff_res")))
    assert shown.count("<caption>") == 2
    for amplified in (True, False):
        frame = pair_delta.top(store, effect="ff_res", amplified=amplified, layer=None)
        for source, target, delta in pairs_of(frame):
            change = f"{delta:+.2f}".replace("-", "−")
            assert f"{source} → {target}: {change} points" in shown


def test_one_direction_can_be_looked_at_alone(section):
    session = section("tables", tp_effect="ff_res", tp_direction="attenuated")
    assert bodies(session).count("<caption>") == 1


def test_places_that_no_pair_takes_are_told_and_left_empty(section, store):
    ((most,),) = store.execute("select max(n) from pair where not has_special").fetchall()
    session = section("tables", tp_least=str(most), tp_special="out")
    assert 'class="tp-none"' in bodies(session)
    assert any("fewer than ten" in caption.value for caption in session.caption)


def test_the_rows_and_the_table_of_a_list_are_those_of_the_file(section, store, exported):
    chosen = {"tp_layer": "2", "tp_effect": "ff_ln", "tp_direction": "attenuated"}
    session = section("workbench", tp_list_page="2", **chosen)
    asked = {"effect": "ff_ln", "layer": 2, "limit": 1000}
    expected = pairs_of(pair_delta.top(store, amplified=False, **asked))
    assert pairs_of(frames(session)[0]) == expected
    rows = frame_of(exported, "tp_workbench_pairs_2")
    start = ROWS if len(expected) > ROWS else 0  # there is no second page of a short list
    assert pairs_of(rows) == expected[start : start + ROWS]


@pytest.mark.parametrize(
    ("beside", "of_other"), [("1", {"layer": 1}), ("res_ln", {"effect": "res_ln"})]
)
def test_a_list_of_another_layer_or_step_stands_beside(beside, of_other, section, store):
    session = section("workbench", tp_layer="2", tp_beside=beside)
    everything = {"min_count": 2, "text": "", "relation": "all", "special": True, "limit": 1000}
    here = everything | {"layer": 2, "effect": "ff"}
    for frame, asked in zip(frames(session), (here, here | of_other), strict=True):
        assert pairs_of(frame) == pairs_of(pair_delta.browse(store, **asked))
    assert len(charts(session)) == 3


@pytest.mark.parametrize(
    ("address", "holds"),
    [
        ({"tp_text": "CAT"}, lambda row: "cat" in row.source or "cat" in row.target),
        (
            {"tp_source_text": '"cat"', "tp_target_text": "t", "tp_special": "out"},
            lambda row: row.source == "cat" and "t" in row.target and "[" not in row.target,
        ),
        (
            {"tp_relation": "adjacent", "tp_least": "4"},
            lambda row: row.relation_named == "neighbours",
        ),
        ({"tp_text": "%"}, lambda row: False),
    ],
)
def test_what_is_listed_fulfils_every_condition(address, holds, section):
    session = section("workbench", **address)
    everything = frames(section("workbench", tp_least="1"))[0]
    shown = frames(session)[0] if session.dataframe else everything.head(0)
    least = int(address.get("tp_least", 2))
    fits = [row for row in everything.itertuples() if holds(row) and row.n >= least]
    assert len(shown) == len(fits)
    assert all(map(holds, shown.itertuples()))


def test_pairs_within_a_window_have_correlations_and_no_points(section):
    everything = charts(section("pmi"))
    session = section("pmi", tp_pmi_window="5")
    assert len(charts(session)) == len(everything) - 1
    assert "whole sequences alone" in session.info[0].value


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.15, 0.6, "clear of 0 in 2 of 2 layers above it and in 0 below it"),
        (-0.7, 1.3, "In none of 2 layers is it clear of 0"),
        (np.nan, np.nan, "too few words for an interval"),
    ],
)
def test_a_finding_says_whether_it_is_clear_of_0(low, high, expected):
    places = list(product((1, 2), ("partial", "pmi")))
    frame = pd.DataFrame(places, columns=["layer", "quantity"])
    with words_of("token_pairs", "pmi"):
        text = _finding(VIEW, frame.assign(spearman=0.3, low=low, high=high), "ff", "sequence")
    assert expected in text


WITHOUT_LISTS = "delete from stored.pair_extreme"  # lists are then made from all pairs


@pytest.mark.parametrize("view", ["tables", "workbench"])
def test_a_number_that_no_pair_reaches_is_told(view, section):
    session = section(view, tp_least="9999")
    assert session.info
    assert not charts(session)
    assert not frames(session)
    assert "tp-grid" not in bodies(session)


def assert_no_nan(session) -> None:
    assert "nan" not in sentences(session).lower().split()
    assert "nan" not in bodies(session).lower()


def test_pairs_of_one_sequence_each_have_no_interval_and_are_not_clear(changed, section):
    folder = changed(
        "update stored.pair_delta set n_sequences = 1, degrees = null",
        "update stored.pair_extreme set n_sequences = 1, degrees = null",
        "update stored.pair set n_sequences = 1",
        "update stored.pair_pmi_correlation set low = null, high = null",
    )
    sessions = {view: section(view, folder) for view in stems("token_pairs")}
    for session in sessions.values():
        assert_no_nan(session)
    assert "no interval" in captions(sessions["workbench"])
    unclear = (f" {direction} pairs listed, none is clear of 0" for direction in DIRECTIONS)
    assert all(sentence in sentences(sessions["tables"]) for sentence in unclear)
    assert "too few words for an interval" in sentences(sessions["pmi"])
    assert len(charts(sessions["pmi"])) == 3
    for view in ("tables", "workbench"):
        session = section(view, folder, tp_clear="only")
        assert "is clear of 0. Choose" in session.info[0].value
        assert not charts(session)


@pytest.fixture(scope="module")
def one_way(store_folder, tmp_path_factory) -> Path:
    """Folder of a file with extreme modules and without correlations.

    One module amplifies every pair, another attenuates all, and a third changes none.
    """
    return changed_copy(
        store_folder,
        tmp_path_factory.mktemp("one_way"),
        "update stored.pair_delta set mean_ff_res = abs(mean_ff_res) + 1e-9, "
        "mean_res_ln = -(abs(mean_res_ln) + 1e-9), mean_ff = 0, std_ff = if(n > 1, 0, null)",
        "update stored.pair_pmi_correlation set spearman = null where min_count = 2",
        WITHOUT_LISTS,
    )


HOSTILE = "<b>$x$"
PAIRS = pd.DataFrame(
    {
        "layer": [1, 1, 2],
        "place": [1, 2, 1],
        "source": ["united", HOSTILE, "a"],
        "target": ["states", "[SEP]", "a"],
        "mean_delta": [0.04, 0.01, 0.02],
        "low": [0.03, -0.01, None],
        "high": [0.05, 0.03, None],
        "n": [3, 1200, 5],
        "relation": ["adjacent", "special", "same_word"],
    }
)


def test_every_pair_is_drawn_and_faint_where_it_is_not_clear():
    lists = {"More": PAIRS, "Less": PAIRS.assign(mean_delta=-PAIRS["mean_delta"])}
    drawn = export.svg(picture(lists, layers=range(1, 3), top=0.04), "A finding.")
    written = "\n".join(re.findall(r">([^<]+)</", drawn))
    for words in ("united →", "states", "+4.00 · n 3", "−4.00 · n 3", "+1.00 · n 1,200", "More"):
        assert words in written
    assert "&lt;b&gt;$x$ →" in written
    grid = picture({"More": PAIRS}, layers=range(1, 3), top=0.04)
    assert grid.data["visible"].tolist() == [1.0, 0.4, 0.4]


def test_a_step_that_changes_everything_one_way_or_nothing_is_told(one_way, section):
    for effect in ("ff_res", "res_ln"):
        session = section("tables", one_way, tp_effect=effect)
        assert_no_nan(session)
        assert "keeps of itself" in session.info[0].value
        assert 'class="tp-none"' not in bodies(session)
    session = section("workbench", one_way, tp_effect="ff_res")
    assert_no_nan(session)
    assert "and 0 attenuated" in sentences(session)
    assert section("workbench", one_way, tp_effect="ff_res", tp_direction="attenuated").info
    assert section("tables", one_way).info
    assert section("workbench", one_way, tp_direction="amplified").info
    correlations = section("pmi", one_way)
    assert correlations.info
    assert not charts(correlations)
