"""Way from a chart on a page to a report: collect, note, sort, keep, open, and show as slides."""

import io
import zipfile

import pytest
import streamlit as st

from pages.export import files as export
from pages.export.collection import _KEY, _TOLD, Collection, Kept
from pages.export.drawing import NotDrawn
from pages.export.paper import paper
from pages.report import listed
from pages.words.say import plain
from tests.pages.conftest import assert_sound, bodies, sentences
from tests.pages.test_collection import COLLECTION, ITEMS

pytestmark = pytest.mark.slow


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
    session = opened("layer_mixing", store_folder, lm_view="ratio", lm_type="sep")
    question = session.subheader[0].value
    for word in ("Collected", "already"):
        key = next(
            control.key for control in session.button if (control.key or "").endswith("-collect")
        )
        session.button(key=key).click().run()
        assert word in session.toast[-1].value
    [item] = session.session_state[_KEY].items
    assert item.address.startswith("layer-mixing?lm_view=ratio")
    assert item.address.endswith("#curves")
    assert "lm_type=sep" in item.address
    session.switch_page("report/page.py").run()
    assert_sound(session)
    assert plain(question) in {heading.value for heading in session.subheader}


def shown(opened, folder, address: str):
    """The report on one address."""
    session = opened("report", folder, alone=True)
    session.session_state[_KEY] = Collection(items=(Kept(address),))
    session.run()
    assert_sound(session)
    return session


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("layer-mixing?file=gone.duckdb&lm_view=ratio#curves", "no file gone.duckdb"),
        ("layer-mixing?file=tiny.duckdb&content=0&lm_view=ratio#curves", "has been replaced"),
        ("layer-mixing?file=tiny.duckdb&lm_view=ratio#none", "does not show this figure"),
        ("layer-mixing?file=tiny.duckdb&lm_view=none#curves", "does not show this figure"),
        ("relevance?file=tiny.duckdb&re_view=map#grid", "Choose an image"),
    ],
)
def test_a_figure_that_is_not_there_says_so_in_its_place(opened, store_folder, address, reason):
    session = shown(opened, store_folder, address)
    assert reason in sentences(session).replace("\\", "")
    assert not session.get("imgs")


def test_a_comparison_is_collected_as_it_is_chosen(opened, store_folder):
    address = "layer-mixing?file=tiny.duckdb&lm_view=similarity#matrix"
    alone = shown(opened, store_folder, address)
    beside = "lm_matrix_beside=lm_layer%3D1"
    both = shown(opened, store_folder, address.replace("#", f"&{beside}#"))
    assert sentences(alone) != sentences(both)


def test_a_slide_shows_one_item_and_leads_to_its_neighbours(opened, store_folder):
    session = opened("report", store_folder, alone=True, present="True", slide="2")
    session.session_state[_KEY] = COLLECTION
    session.run()
    assert "<table>" in bodies(session)
    session.button(key="slide-Left").click().run()
    assert "<img " in bodies(session)
    assert "<table>" not in bodies(session)
    assert session.button(key="slide-Left").disabled
    session.button(key="slide-Escape").click().run()
    assert session.text_area
    assert_sound(session)


def test_what_the_browser_keeps_is_taken(opened, store_folder):
    session = opened("methods", store_folder, alone=False)
    assert 'data-kept=""' in bodies(session)
    session.text_input(key=_TOLD).set_value(f"1 {COLLECTION.written()}").run()
    assert session.session_state[_KEY] == COLLECTION
    session.text_input(key=_TOLD).set_value("2 nonsense").run()
    assert session.session_state[_KEY] == Collection()
    assert "items" in bodies(session)


def test_a_chart_that_cannot_be_drawn_is_said_to_be(opened, store_folder, monkeypatch):
    def fail(*_: object, **__: object) -> str:
        raise NotDrawn("slow")

    st.cache_data.clear()
    monkeypatch.setattr(listed, "picture", lambda *_: b"")
    monkeypatch.setattr(export, "svg", fail)
    session = opened("report", store_folder, alone=True)
    session.session_state[_KEY] = COLLECTION
    session.run()
    assert_sound(session)
    assert [warning.value for warning in session.warning if "could not be drawn" in warning.value]
    with zipfile.ZipFile(io.BytesIO(paper("", ITEMS))) as files:
        assert "could not be drawn" in files.read("report.tex").decode()
        assert not [name for name in files.namelist() if name.startswith("figures")]
