"""Way from a chart on a page to a report: collect, note, sort, and show as slides."""

import io
import zipfile

import pytest
import streamlit as st
from selenium.webdriver.common.by import By

from pages.export import files as export
from pages.export.collection import _KEY
from pages.export.drawing import NotDrawn
from pages.export.markup import clean
from pages.export.paper import paper
from pages.export.web import web_page
from pages.report import shown
from pages.words.say import plain
from tests.pages.conftest import assert_sound, charts, frames
from tests.pages.kit.chromium import needs_chromium, settled
from tests.pages.shared.test_collection import COLLECTION, HOSTILE


def in_a_browser(test):
    for mark in needs_chromium:
        test = mark(test)
    return test


def button(session, start: str):
    return next(
        candidate
        for candidate in session.button
        if candidate.key and candidate.key.startswith(start)
    )


@pytest.fixture
def report(opened, store_folder):
    """The report on three items."""
    session = opened("report", store_folder, alone=True)
    session.session_state[_KEY] = COLLECTION
    return session.run()


def test_what_is_collected_on_a_page_is_in_the_report(opened, store_folder):
    session = opened("layer_mixing", store_folder, lm_view="ratio")
    question = session.subheader[0].value
    for word in ("Collected", "already"):
        key = next(
            control.key for control in session.button if (control.key or "").endswith("-collect")
        )
        session.button(key=key).click().run()
        assert word in session.toast[-1].value
    [item] = session.session_state[_KEY].items
    assert item.question == question
    assert item.chart
    assert "tiny.duckdb" in item.source
    assert "lm_view=ratio" in item.link
    session.switch_page("report/page.py").run()
    assert_sound(session)
    assert plain(question) in {heading.value for heading in session.subheader}


def test_texts_are_collected_with_their_headings_and_colours(opened, store_folder):
    session = opened("head", store_folder, he_view="tokens", he_least="1")
    keys = (control.key or "" for control in session.button)
    key = next(key for key in keys if "texts_token" in key and "collect" in key)
    session.button(key=key).click().run()
    [item] = session.session_state[_KEY].items
    assert clean(item.body) == item.body
    assert 'class="an-name"' in item.body
    assert 'class="an-text"' in item.body
    assert item.rows


def test_notes_order_and_title_are_kept(report):
    report.text_area[0].set_value("see layer 3").run()
    button(report, "down").click().run()
    report.text_input[0].set_value("Our report").run()
    kept = report.session_state[_KEY]
    assert kept.title == "Our report"
    assert [item.note for item in kept.items] == ["", "see layer 3", ""]
    button(report, "remove").click().run()
    assert len(report.session_state[_KEY].items) == 2
    assert_sound(report)


def test_a_slide_shows_one_item_and_leads_to_its_neighbours(opened, store_folder):
    session = opened("report", store_folder, alone=True, rp_view="slides", rp_slide="2")
    session.session_state[_KEY] = COLLECTION
    session.run()
    assert frames(session)
    assert not charts(session)
    button(session, "slide-Left").click().run()
    assert charts(session)
    assert not frames(session)
    assert button(session, "slide-Left").disabled
    assert_sound(session)


def test_a_chart_that_cannot_be_drawn_is_said_to_be(opened, store_folder, monkeypatch):
    def fail(*_: object, **__: object) -> str:
        raise NotDrawn("slow")

    st.cache_data.clear()
    monkeypatch.setattr(shown, "svg", fail)
    monkeypatch.setattr(export, "svg", fail)
    session = opened("report", store_folder, alone=True)
    session.session_state[_KEY] = COLLECTION
    session.run()
    assert_sound(session)
    assert [warning.value for warning in session.warning if "could not be drawn" in warning.value]
    with zipfile.ZipFile(io.BytesIO(paper(COLLECTION))) as files:
        assert "could not be drawn" in files.read("report.tex").decode()
        assert not [name for name in files.namelist() if name.startswith("figures")]


@in_a_browser
def test_the_web_page_draws_and_sorts_without_a_server(browser, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(web_page(COLLECTION), encoding="utf-8")
    browser.get_log("browser")
    browser.get(page.as_uri())
    settled(browser, ".chart svg")
    share = browser.find_elements(By.TAG_NAME, "th")[1]
    for cell in ("[SEP]", HOSTILE):
        share.click()
        assert browser.find_element(By.CSS_SELECTOR, "tbody td").text == cell
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
