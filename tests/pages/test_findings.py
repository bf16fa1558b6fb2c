"""Cards of the overview and what programs are told: numbers are in the charts, and how sure."""

import json
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from analysis.errors import UserError
from pages.kit.contents import PAGES
from pages.kit.found import Found
from pages.kit.links import VIEWS
from pages.overview.as_json import VERSION
from pages.overview.ranked_findings import findings, how_sure
from pages.services.chosen import open_store, speak_of_file
from pages.services.sql_asking import Answer, Fault
from pages.services.sql_asking import asked as ask
from precompute.serve import findings as printed_findings
from tests.pages.kit.numbers import is_among, numbers
from tests.pages.kit.ran import ran

pytestmark = pytest.mark.slow


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
        assert all(is_among(number, drawn) for number in numbers(finding.number)), finding.label
        said = " ".join(ran(finding.page, finding.view).findings)
        assert finding.sentence in said


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


@pytest.fixture(scope="module")
def made(treebank_folder) -> dict:
    """Output for programs."""
    with redirect_stdout(StringIO()) as printed:
        printed_findings(treebank_folder / "tiny.duckdb", as_json=True)
    return json.loads(printed.getvalue())


def test_every_finding_comes_with_its_evidence_and_a_link(made):
    assert made["version"] == VERSION
    assert len(made["findings"]) > 10
    addresses = {f"/{path}": page for page, path in PAGES.items()}
    for finding in made["findings"]:
        assert all(finding[field] for field in ("number", "sentence", "certainty"))
        assert {"name", "value", "low", "high"} <= set(finding["evidence"][0])
        link = urlsplit(finding["link"])
        assert addresses[link.path] == finding["page"]
        asked = parse_qs(link.query)
        assert asked[VIEWS[finding["page"]]] == [finding["section"]]
        assert asked["file"] == ["tiny.duckdb"]
        first = finding["evidence"][0]
        ends = [first["low"], first["high"]]
        assert finding["interval"] == (None if "layer" in first or None in ends else ends)
    assert any(finding["interval"] for finding in made["findings"])


def test_every_finding_brings_the_sql_of_its_numbers(made, treebank_folder):
    found = made["findings"]
    assert all(finding["queries"] for finding in found)
    every = [sql for finding in found for sql in finding["queries"]]
    answers = dict(zip(every, ask(str(treebank_folder / "tiny.duckdb"), every), strict=True))
    assert not [sql for sql, answer in answers.items() if isinstance(answer, Fault)]
    [ratio] = [finding for finding in found if finding["section"] == "ratio"]
    frames = [
        answer.frame for sql in ratio["queries"] if isinstance(answer := answers[sql], Answer)
    ]
    low, high = ratio["interval"]
    assert any(((frame["low"] == low) & (frame["high"] == high)).any() for frame in frames)


def test_a_file_that_cannot_be_read_is_refused_in_one_line(damaged_folder):
    with pytest.raises(UserError, match=r"tiny\.duckdb"):
        printed_findings(damaged_folder / "tiny.duckdb")
