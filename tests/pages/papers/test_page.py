"""The page of the papers: all cards in Japanese, slides and report of a paper in one click."""

import io
import zipfile

import pytest

from pages.export.collection import _KEY, Collection
from pages.export.paper import paper as paper_of
from pages.papers import outcomes, slides
from pages.papers.entries import PAPERS, entries_of
from pages.papers.thumbnail import thumbnail
from pages.words.say import catalogue
from tests.pages.conftest import assert_sound
from tests.pages.shared.test_collection import COLLECTION


@pytest.fixture
def bare(monkeypatch):
    """The page without its small pictures, which take most of the time."""
    monkeypatch.setattr(outcomes, "thumbnail", lambda *given: b"")


def cards(session) -> list[str]:
    bodies = [element.proto.body for element in session.get("html")]
    return [body for body in bodies if "paper-entry" in body and "<style>" not in body]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_of_a_paper_has_a_card_in_japanese(
    paper, monkeypatch, bare, opened, treebank_folder
):
    session = opened("papers", treebank_folder, lang="ja", pa_view=paper)
    assert_sound(session)
    shown = cards(session)
    entries = entries_of(paper)
    assert len(shown) == len(entries)
    for entry, body in zip(entries, shown, strict=True):
        assert catalogue()[f"papers.{entry.word}"]["ja"] in body
    badges = [text.value for text in session.main.markdown if "-badge[" in text.value]
    assert len(badges) == len(entries)
    assert all("gray" in badge for badge in badges) == (paper == "sawaki-2025")


def test_presenting_a_paper_keeps_what_was_collected_and_opens_its_first_slide(
    monkeypatch, bare, opened, treebank_folder
):
    session = opened("papers", treebank_folder, pa_view="kobayashi-2024")
    session.session_state[_KEY] = COLLECTION
    session.button(key="present_paper").click().run()
    assert not session.exception
    items = session.session_state[_KEY].items
    before = len(COLLECTION.items)
    assert items[:before] == COLLECTION.items
    assert len(items) == before + 5, "figures 1 to 3, and two lists of pairs"
    assert session.session_state["rp_slide"] == before + 1
    assert session.session_state["present"]
    assert [item.note.split(". ")[1] for item in items[before:]] == [
        *("2024, Figure 1", "2024, Figure 2", "2024, Figure 3", "2024, Table 1", "2024, Table 2")
    ]


def test_a_report_of_a_paper_cites_it(monkeypatch, bare, opened, treebank_folder):
    made: list[Collection] = []
    monkeypatch.setattr(slides, "downloads", lambda shown, *kinds: made.append(shown))
    session = opened("papers", treebank_folder, pa_view="yamamoto-2023")
    assert_sound(session)
    [shown] = made
    assert len(shown.items) == 9
    archive = zipfile.ZipFile(io.BytesIO(paper_of(Collection(shown.title, shown.items[:1]))))
    assert "yamamoto-2023" in "".join(
        archive.read(name).decode() for name in archive.namelist() if name.endswith(".bib")
    )


@pytest.mark.parametrize("ground", ["light", "dark", "print"])
def test_a_thumbnail_is_a_small_picture(ground):
    chart = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": [{"a": 1}]},
        "mark": "point",
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
    }
    assert thumbnail(chart, ground).startswith(b"\x89PNG")
    assert thumbnail({"mark": "none such"}, ground) == b""
