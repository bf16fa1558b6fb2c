"""Cards of the overview: the number is in the chart beneath and behind the link, and how sure it is
agrees with the interval."""

from dataclasses import replace

import numpy as np
import pytest

from pages.kit.found import Found
from pages.overview.ranked_findings import findings, how_sure
from pages.services.chosen import open_store, speak_of_file
from pages.words.numbers import count
from tests.pages.findings.numbers import is_among, missing_from, numbers
from tests.pages.kit.ran import ran

pytestmark = pytest.mark.slow
CONSTANTS = {"95%", "0.6", "1", "0", "30%", "100", "1,000", "512", "0.1", "5%", count(30)}
"""Levels, thresholds and units that sentences name."""


@pytest.fixture(params=["treebank", "turned", "images"])
def found(request, monkeypatch) -> list[Found]:
    """Findings of an encoder of texts, of a decoder that turns positions, of images."""
    folder = request.getfixturevalue(f"{request.param}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    speak_of_file(open_store())
    made = findings(open_store())
    assert len(made) > 5
    return made


def test_numbers_of_a_card_are_in_its_chart_and_in_the_section_behind_its_link(found):
    for finding in found:
        evidence = finding.evidence
        shown = evidence.head(3) if "layer" not in evidence else evidence
        n_heads = evidence["value"].iloc[1:].sum()  # where heads are counted by kind
        drawn = np.append(shown["value"].to_numpy(dtype=float), n_heads)
        section = ran(finding.page, finding.view)
        texts = [*section.findings, *section.texts("markdown")]
        words = {number for text in texts for number in numbers(text)}
        frames = [item.shown.frame for item in section.shown]
        of_card = set(numbers(finding.number))
        assert all(is_among(number, drawn) for number in of_card), finding.label
        assert not missing_from(frames, of_card - words), finding.label
        stated = set(numbers(finding.sentence)) - words - CONSTANTS
        assert not missing_from([evidence, *frames], stated), finding.sentence


def test_how_sure_a_card_is_agrees_with_its_interval(found):
    compared = [one for one in found if one.baseline is not None]
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
