"""Links, clicks and pickers make choices, which stand in the address under plain names."""

from importlib import import_module
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from pages.kit import folds
from pages.kit.links import MOVED, RENAMED, VIEWS, current_place
from pages.services.open_file import described, version_of
from tests.pages.conftest import assert_sound, captions, charts, in_address
from tests.pages.kit.openings import click
from tests.pages.kit.ran import sections

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("value", ["9999999", "<b>"])
def test_a_link_to_what_is_not_there_shows_the_default_and_says_so(value, opened, store_folder):
    session = opened("positions", store_folder, po_view="waves", po_carrier=value)
    assert session.session_state["po_carrier"] == "embeddings"
    assert not in_address(session, "po_carrier")
    assert any("po_carrier = " in toast.value for toast in session.toast)


def test_a_link_says_that_it_was_made_of_another_content(opened, store_folder):
    content = described(version_of(store_folder / "tiny.duckdb")).content
    session = opened("layer_mixing", store_folder, content="00000000")
    [line] = [caption.value for caption in session.main.caption if "another tiny" in caption.value]
    assert "with the content 00000000; it is " + content in line
    assert in_address(session, "content") == ["00000000"]
    assert "another tiny" not in captions(opened("layer_mixing", store_folder, content=content))


def test_a_link_to_a_missing_file_stops_and_leads_to_the_same_view_of_those_there_are(
    opened, store_folder
):
    view = {"lm_view": "ratio", "lm_scope": "attn"}
    session = opened("layer_mixing", store_folder, file="gone.duckdb", content="00000000", **view)
    assert_sound(session)
    assert "no file gone" in session.error[0].value
    assert not charts(session)
    [link] = [link.proto for link in session.main.get("page_link")]
    expected = {"file": "tiny.duckdb", "lang": "en", **view}
    assert (link.page, dict(parse_qsl(link.query_string))) == ("layer-mixing", expected)


@pytest.mark.parametrize(
    ("older", "current"),
    [
        ("attention-norms?an_view=layers", "norms?an_view=layers"),
        (
            "attention-norms?an_view=head&an_token=a&head=2-1",
            "head?he_token=a&head=2-1&he_view=tokens",
        ),
        ("sinks?si_view=texts&file=x.duckdb", "head?file=x.duckdb&he_view=tokens"),
        ("positions?po_view=claim", "positions?po_view=claim"),
    ],
)
def test_an_older_address_leads_to_where_its_section_is(older, current):
    page, _, query = older.partition("?")
    now, kept = current_place(page, parse_qsl(query))
    assert f"{now}?" + "&".join("=".join(pair) for pair in kept) == current


def test_every_older_section_leads_to_one_that_is_there():
    stems = {page: {section.name for section in sections(page)} for page in VIEWS}
    pages = {page: import_module(f"pages.{page}.page").PAGE for page in VIEWS}
    moved = {(page, old): (page, new) for page in pages for old, new in pages[page].moved.items()}
    assert len(moved) > 20
    assert all(new in stems[page] for page, new in (*moved.values(), *MOVED.values()))
    assert not [old for page, old in (*moved, *MOVED) if old in stems[page]]
    assert set(RENAMED.values()) <= set(VIEWS)


PAIR = {"source": "cat", "target": "sat"}


@pytest.mark.parametrize(
    ("page", "address", "figure", "part", "value", "chosen"),
    [
        (
            *("norms", {"an_view": "relation", "an_type": "other"}, "an_heads", "cell"),
            {"layer": 2, "head": 3},
            {"an_scope": "head", "head": "2-3"},
        ),
        (
            *("token_pairs", {"tp_view": "tables"}, "tp_amplified", "point"),
            {"layer": 2, **PAIR},
            {"tp_view": "workbench", "tp_source": "cat", "tp_target": "sat"},
        ),
    ],
)
def test_a_click_is_in_the_address(
    page, address, figure, part, value, chosen, opened, store_folder
):
    session = opened(page, store_folder, head="1-1", **address)
    click(session, figure, part, value)
    assert_sound(session)
    assert [in_address(session, key) for key in chosen] == [[value] for value in chosen.values()]


def test_an_old_click_does_not_undo_a_newer_choice_and_old_names_of_heads_are_read(
    opened, store_folder
):
    old = {"an_view": "heads", "an_layer": "2", "an_head": "3"}
    session = opened("norms", store_folder, **old)
    assert in_address(session, "head") == ["2-3"]
    click(session, "an_maps", "cell_attention", {"layer": 2, "head": 1})
    session.selectbox(key="head").set_value("1-2").run()
    session.run()
    assert session.session_state["head"] == "1-2"


SCRIPT = """
import streamlit as st
from pages.kit.address import Choice, draw
from pages.kit.address import choose
from pages.kit.picker import pick

NAMES = {"cls": "クラス", "sep": "区切り", "other": "その他"}
kind = pick("p_kind", "Kind", list(NAMES), default="other", format=NAMES.get, named=False)
choice = Choice("p_head", range(1, 13), 1)
head = draw(choice, lambda: st.number_input("Head", 1, 12, step=1, key="p_head"))
several = Choice("p_some", [1, 2, 3], [1], many=True)
some = draw(several, lambda: st.multiselect("Some", [1, 2, 3], key="p_some"))
st.text(f"{kind} {head} {some}")
st.button("jump", on_click=choose, args=("p_head", 7))
"""


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=30)


def shown(session: AppTest) -> str:
    assert not session.exception
    return session.text[0].value


@pytest.mark.parametrize(
    ("key", "value"), [("p_kind", "区切り"), ("p_head", "99"), ("p_head", "x"), ("p_some", "9")]
)
def test_what_is_no_option_falls_back_to_the_default_and_leaves_the_address(page, key, value):
    page.query_params[key] = value
    assert shown(page.run()) == "other 1 [1]"
    assert key not in page.query_params


def test_a_picker_writes_plain_names_into_the_address_and_goes_back_with_it(page):
    page.run().segmented_control[0].set_value("sep").run()
    page.number_input[0].set_value(4).run()
    assert shown(page) == "sep 4 [1]"
    assert page.query_params["p_kind"] == "sep"
    page.query_params["p_head"] = "6"
    assert shown(page.run()) == "sep 6 [1]"
    del page.query_params["p_head"]
    assert shown(page.run()) == "sep 1 [1]"


def test_what_is_folded_is_made_once_it_is_opened(monkeypatch):
    monkeypatch.setattr(folds, "is_open", lambda place: bool(place.open))
    folded = 'folded("expander", "More", "more", lambda: st.markdown("inside"))'
    imports = "import streamlit as st\nfrom pages.kit.folds import folded\n"
    session = AppTest.from_string(imports + folded, default_timeout=30).run()
    assert not session.markdown
    session.session_state["more"] = True
    assert [text.value for text in session.run().markdown] == ["inside"]
