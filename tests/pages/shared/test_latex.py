"""Exported tables, captions and reports are set by LaTeX without a fault, and are well formed."""

import io
import re
import zipfile

import pytest

from pages.export import paper as paper_module
from pages.words import say as say_module
from tests.pages.shared.test_collection import ITEMS

ESCAPED = re.compile(r"\\[\\{}%&$#_]|(?<!\\)%.*")
ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+)\}")


def assert_well_formed(document: str) -> None:
    """Check that braces and environments are closed in the order in which they are opened."""
    open_now: list[str] = []
    for begin, name in ENVIRONMENT.findall(document):
        if begin == "begin":
            open_now.append(name)
        else:
            assert open_now, name
            assert open_now.pop() == name
    assert not open_now
    depth = 0
    for letter in re.sub("[^{}]", "", ESCAPED.sub("", document)):
        depth += 1 if letter == "{" else -1
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize("fault", [r"\begin{table}", "{", "}", r"\end{table}\begin{table}"])
def test_a_document_that_is_not_well_formed_would_be_seen(fault):
    with pytest.raises(AssertionError):
        assert_well_formed(f"a {fault} b")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_report_is_well_formed_in_the_readers_language(lang, tmp_path, monkeypatch):
    monkeypatch.setattr(say_module, "language", lambda: lang)
    monkeypatch.setattr(paper_module, "language", lambda: lang)
    with zipfile.ZipFile(io.BytesIO(paper_module.paper("", ITEMS))) as files:
        files.extractall(tmp_path)
    document = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert_well_formed(document)
    assert ("luatexja" in document, "Mixscope レポート" in document) == (lang == "ja", lang == "ja")
    assert r"\includegraphics[width=\linewidth]" in document
    entries = (tmp_path / "references.bib").read_text(encoding="utf-8")
    assert_well_formed(entries)
    assert "author = {Clark, Kevin and Khandelwal, Urvashi" in entries
    assert "@inproceedings{clark-2019," in entries
