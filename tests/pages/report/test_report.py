"""Way from a chart on a page to a report: collect, note, sort, and show as slides."""

import io
import json
import zipfile

import pytest
import streamlit as st
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from pages.report import shown
from pages.ui.collection.collection import _KEY
from pages.ui.collection.markup import clean
from pages.ui.collection.paper import paper
from pages.ui.collection.web import web_page
from pages.ui.export import files as export
from pages.ui.export.drawing import NotDrawn
from pages.ui.words.say import plain
from tests.pages.conftest import assert_sound, charts, frames
from tests.pages.kit.chromium import is_idle, needs_chromium, parameters, settled
from tests.pages.ui.test_collection import COLLECTION, HOSTILE


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
    session = opened("head_habits", store_folder, hh_view="one_head")
    key = next(
        control.key for control in session.button if "_texts_title-collect" in (control.key or "")
    )
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


def test_a_collection_is_opened_and_what_is_none_is_refused(report):
    report.file_uploader[0].upload("other.json", b"{}", "application/json").run()
    assert "other" in report.error[0].value
    single = json.dumps(json.loads(COLLECTION.without(0).without(0).to_json()))
    report.file_uploader[0].upload("one.json", single.encode(), "application/json").run()
    next(control for control in report.button if control.label == "Open it").click().run()
    assert report.session_state[_KEY] == COLLECTION.without(0).without(0)


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


@in_a_browser
def test_arrow_keys_turn_the_slides(browser, server, tmp_path):
    file = tmp_path / "collection.json"
    file.write_text(COLLECTION.to_json(), encoding="utf-8")
    browser.get(f"{server}/report")
    wait = WebDriverWait(browser, 60)

    def press(label: str) -> None:
        button = f"//button[contains(., '{label}')]"
        wait.until(lambda d: d.find_element(By.XPATH, button)).click()

    press("Open a collection")
    settled(browser, "input[type=file]")
    browser.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(file))
    press("Open it")
    browser.get_log("browser")
    press("Slides")
    for key, slide in ((Keys.ARROW_RIGHT, "2"), (Keys.ARROW_RIGHT, "3"), (Keys.ARROW_LEFT, "2")):
        wait.until(is_idle)
        browser.find_element(By.TAG_NAME, "body").send_keys(key)
        wait.until(lambda d, slide=slide: parameters(d).get("rp_slide") == [slide])
