"""Findings of a file are told to programs as the overview shows them."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from analysis.errors import UserError
from pages.overview.as_json import VERSION
from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from precompute.serve import findings


def printed(folder, capsys) -> dict:
    findings(folder / "tiny.duckdb", as_json=True)
    return json.loads(capsys.readouterr().out)


def test_every_finding_comes_with_its_evidence_and_a_link(treebank_folder, capsys):
    made = printed(treebank_folder, capsys)
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


def test_the_findings_are_printed_in_the_same_order(treebank_folder, capsys):
    labels = [finding["label"] for finding in printed(treebank_folder, capsys)["findings"]]
    findings(treebank_folder / "tiny.duckdb")
    lines = capsys.readouterr().out.splitlines()[::2]
    assert all(line.startswith(f"{label}: ") for line, label in zip(lines, labels, strict=True))


def test_a_file_that_cannot_be_read_is_refused_in_one_line(damaged_folder):
    with pytest.raises(UserError, match=r"tiny\.duckdb"):
        findings(damaged_folder / "tiny.duckdb")
