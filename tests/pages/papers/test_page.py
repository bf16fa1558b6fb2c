"""The page of the papers: all cards in Japanese, slides and report of a paper in one click."""

import pytest

from pages.export.collection import _KEY
from pages.export.item import bibliography_of
from pages.kit import presentation
from pages.kit.run import Run, within
from pages.papers import outcomes
from pages.papers.entries import PAPERS, entries_of
from pages.papers.outcomes import outcome_of
from pages.papers.report import items_of
from pages.services.chosen import open_store
from pages.words.say import catalogue
from tests.pages.conftest import assert_sound, bodies
from tests.pages.shared.test_collection import COLLECTION


@pytest.fixture
def bare(monkeypatch):
    """The page without its pictures, which take most of the time."""
    for module in (outcomes, presentation):
        monkeypatch.setattr(module, "picture", lambda *given: b"")


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


@pytest.mark.parametrize(
    ("lang", "slide", "label"),
    [("en", 1, "Figure 1"), ("en", 4, "Table 1"), ("ja", 3, "図 3")],
)
def test_a_paper_is_a_deck_of_its_own(
    lang, slide, label, monkeypatch, bare, opened, treebank_folder
):
    session = opened("papers", treebank_folder, lang=lang, pa_view="kobayashi-2024")
    session.session_state[_KEY] = COLLECTION
    session.button(key="present_paper").click().run()
    for _ in range(slide - 1):
        session.button(key="slide-Right").click().run()
    assert_sound(session)
    assert session.session_state[_KEY] == COLLECTION
    assert f"{slide} / 5" in [caption.value for caption in session.caption]
    assert label in bodies(session).partition('class="more"')[2]
    session.button(key="slide-Escape").click().run()
    assert cards(session)


def test_a_slide_that_stands_in_for_a_figure_says_so(monkeypatch, bare, opened, turned_folder):
    session = opened("papers", turned_folder, pa_view="clark-2019", present="True", slide="1")
    assert_sound(session)
    assert "examples; here all heads" in bodies(session)


def test_a_report_of_a_paper_cites_it(monkeypatch, bare, treebank_folder):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(treebank_folder))
    with within(Run()):
        store = open_store()
        entries = entries_of("yamamoto-2023")
        items = items_of({entry: outcome_of(store, entry) for entry in entries})
    assert len(items) == 9
    assert "{yamamoto-2023," in bibliography_of(items)
