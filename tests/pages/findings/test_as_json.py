"""Findings of a file are told to programs as the overview shows them."""

import json
from contextlib import redirect_stdout
from io import StringIO
from urllib.parse import parse_qs, urlsplit

import pytest

from analysis.errors import UserError
from pages.kit.contents import PAGES
from pages.kit.links import VIEWS
from pages.overview.as_json import VERSION
from pages.services.sql_asking import Answer, Fault
from pages.services.sql_asking import asked as ask
from precompute.serve import findings


@pytest.fixture(scope="module")
def made(treebank_folder) -> dict:
    """What is printed for programs."""
    with redirect_stdout(StringIO()) as printed:
        findings(treebank_folder / "tiny.duckdb", as_json=True)
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


def test_the_findings_are_printed_in_the_same_order(made, treebank_folder, capsys):
    labels = [finding["label"] for finding in made["findings"]]
    findings(treebank_folder / "tiny.duckdb")
    lines = capsys.readouterr().out.splitlines()[::2]
    assert all(line.startswith(f"{label}: ") for line, label in zip(lines, labels, strict=True))


def test_a_file_that_cannot_be_read_is_refused_in_one_line(damaged_folder):
    with pytest.raises(UserError, match=r"tiny\.duckdb"):
        findings(damaged_folder / "tiny.duckdb")
