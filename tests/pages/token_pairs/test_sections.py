"""Every section shows the numbers that the file holds."""

from html import unescape
from itertools import product

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.pairs import pair_delta
from pages.token_pairs.lists import CHANGE, in_points
from pages.token_pairs.pmi import _finding
from pages.token_pairs.workbench import ROWS
from pages.ui.view import View
from pages.ui.words.place import words_of
from tests.pages.conftest import bodies, charts, frames
from tests.pages.kit.figures import frame_of

VIEW = View("tp", "pmi")


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
