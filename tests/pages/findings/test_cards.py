"""Cards of the overview: the number is in the chart beneath and behind the link, and how sure it is
agrees with the interval."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pages.kit.found import Found
from pages.kit.links import VIEWS
from pages.overview.ranked_findings import how_sure
from pages.words.numbers import count
from tests.pages.conftest import charts, frames, sentences
from tests.pages.findings.numbers import is_among, missing_from, numbers

pytestmark = pytest.mark.slow
FOLDERS = ("treebank_folder", "turned_folder", "images_folder")
"""Of an encoder of texts, of a decoder that turns positions, and of an encoder of images."""
FINDINGS = """
import streamlit as st
from pages.overview.ranked_findings import findings
from pages.services.chosen import open_store
st.session_state["found"] = findings(open_store())
"""


@pytest.fixture(params=FOLDERS)
def folder(request):
    return request.getfixturevalue(request.param)


def found(in_session, folder, lang: str = "en") -> list[Found]:
    findings = in_session(FINDINGS, folder, lang=lang).session_state["found"]
    assert len(findings) > 5
    return findings


@pytest.fixture
def section_of(opened, offered, folder):
    """The words of the section behind a card's link, and the frames that it shows."""

    def open_section(finding: Found) -> tuple[set[str], list[pd.DataFrame]]:
        offered.clear()
        place = {VIEWS[finding.page]: finding.view}
        session = opened(finding.page, folder, lang="en", **place)
        assert not session.toast, "there is no such section"
        titles = " ".join(str(chart.get("title", "")) for chart in charts(session))
        shown = [*(frame for frame, _ in offered.values()), *frames(session)]
        return set(numbers(f"{sentences(session)} {titles}")), shown

    return open_section


CONSTANTS = {"95%", "0.6", "1", "0", "30%", "100", "1,000", "512", "0.1", "5%", count(30)}
"""Levels, thresholds and units that sentences name."""


def test_numbers_of_a_card_are_in_its_chart_and_in_the_section_behind_its_link(
    in_session, folder, section_of
):
    for finding in found(in_session, folder):
        evidence = finding.evidence
        shown = evidence.head(3) if "layer" not in evidence else evidence
        n_heads = evidence["value"].iloc[1:].sum()  # where heads are counted by kind
        drawn = np.append(shown["value"].to_numpy(dtype=float), n_heads)
        words, frames_shown = section_of(finding)
        of_card = set(numbers(finding.number))
        assert all(is_among(number, drawn) for number in of_card), finding.label
        assert not missing_from(frames_shown, of_card - words), finding.label
        stated = set(numbers(finding.sentence)) - words - CONSTANTS
        assert not missing_from([evidence, *frames_shown], stated), finding.sentence


def test_both_languages_tell_the_same_numbers(in_session, folder):
    english, japanese = (found(in_session, folder, lang=lang) for lang in ("en", "ja"))
    for one, other in zip(english, japanese, strict=True):
        assert (one.page, one.view) == (other.page, other.view)
        assert numbers(one.number) == numbers(other.number)
        english, japanese = (  # one language may have words for those below ten
            sorted(number for number in numbers(finding.sentence) if len(number) > 1)
            for finding in (one, other)
        )
        assert english == japanese, other.sentence


def test_how_sure_a_card_is_agrees_with_its_interval(in_session, folder):
    compared = [one for one in found(in_session, folder) if one.baseline is not None]
    assert compared
    for finding in compared:
        row = finding.evidence.iloc[0]
        wide, none = (
            replace(finding, evidence=finding.evidence.assign(low=low, high=high))
            for low, high in ((-1e9, 1e9), (np.nan, np.nan))
        )
        unsure = "in 0 of" if "layer" in row else "not clearly different"
        assert unsure in how_sure(wide)
        assert "[" not in how_sure(none)
        if not np.isnan(row["low"]):
            tight = finding.evidence.assign(low=finding.evidence["value"])
            tight = replace(finding, evidence=tight.assign(high=tight["value"]))
            assert tight.side in ("above", "below", "unclear")
            assert ("not clear" in how_sure(finding)) == (finding.side == "unclear")
