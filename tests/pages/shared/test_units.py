"""A heading and its numbers are converted together, on the page and in every export."""

from typing import Any

import pandas as pd
import pytest
import streamlit as st

from pages.charts.plots import Lines
from pages.export.shown import Shown
from pages.words.columns import title
from pages.words.scope import words_of
from pages.words.units import PERCENT, POINTS, in_unit, named_in, without_unit
from tests.pages.kit.exports import assert_exported_as_shown
from tests.pages.kit.openings import Offer

PAIRS = pd.DataFrame({"layer": [1, 2], "mean_delta": [0.06682, -0.01]})


def offer(frame: pd.DataFrame, chart: Any = None, headings: Any = None, **columns: Any) -> Offer:
    """Exports of a page of pairs."""
    with words_of("token_pairs", "workbench"):
        given = {"columns": columns, "headings": headings or {}}
        return Offer(Shown("k", "?", "", frame, chart=chart, **given))


@pytest.mark.parametrize(("unit", "end"), [(PERCENT, "(%)"), (POINTS, "(% points)")])
def test_a_converted_column_has_its_unit_in_name_and_title(unit, end):
    shown = in_unit(PAIRS, unit, ["mean_delta", "low"])
    name = named_in(unit, "mean_delta")
    assert list(shown) == ["layer", name]
    assert shown[name].tolist() == pytest.approx([6.682, -1.0])
    assert without_unit(name) == "mean_delta"
    with words_of("token_pairs"):
        assert title(name) == f"mean change {end}"
        assert title("mean_delta") == "mean change"


def test_a_chart_in_another_unit_than_its_export_is_noticed():
    with words_of("token_pairs", "workbench"):
        chart = Lines(value="mean_delta").draw(
            PAIRS.assign(mean_delta=100 * PAIRS["mean_delta"]), "", {}
        )
    with pytest.raises(AssertionError, match="mean_delta, shown as mean change"):
        assert_exported_as_shown(offer(PAIRS, chart))


@pytest.mark.parametrize("drawn", ["mean_delta", "low", "high"])
def test_a_number_that_is_drawn_and_not_exported_is_noticed(drawn):
    frame = PAIRS.assign(low=PAIRS["mean_delta"] - 0.01, high=PAIRS["mean_delta"] + 0.01)
    with words_of("token_pairs", "workbench"):
        chart = Lines(value="mean_delta").draw(frame, "", {})
    assert_exported_as_shown(offer(frame, chart))
    with pytest.raises(AssertionError, match=f"{drawn} is not exported"):
        assert_exported_as_shown(offer(frame.drop(columns=drawn), chart))


def test_shares_that_a_table_writes_in_per_cent_are_printed_so():
    percent = st.column_config.NumberColumn("how often", format="percent")
    shown = offer(PAIRS, layer="layer", mean_delta=percent)
    assert shown.printed["how often (%)"].tolist() == pytest.approx([6.682, -1.0])
    assert shown.shown.frame["mean_delta"][0] == 0.06682
    assert_exported_as_shown(shown)


def test_shares_that_a_chart_writes_in_per_cent_are_printed_so():
    frame = pd.DataFrame({"layer": [1, 2], "mean": [0.25, 0.5], "n": [3, 4]})
    kind, name = Lines(format=".1%"), "question"
    with words_of("token_pairs", "workbench"):
        chart = kind.draw(frame, name, {})
        shown = offer(frame, chart, kind.headings(name, {}))
    assert shown.printed["mean (%)"].tolist() == [25.0, 50.0]
    assert_exported_as_shown(shown)
