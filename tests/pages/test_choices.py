"""Choices stand in the address under names that no language changes."""

import pytest
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from pages.kit import folds

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
def page(monkeypatch) -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=30)


def shown(session: AppTest) -> str:
    assert not session.exception
    return session.text[0].value


@pytest.mark.parametrize(
    ("key", "value"),
    [("p_kind", "区切り"), ("p_kind", ""), ("p_head", "99"), ("p_head", "x"), ("p_some", "9")],
)
def test_what_is_no_option_falls_back_to_the_default_and_leaves_the_address(page, key, value):
    page.query_params[key] = value
    assert shown(page.run()) == "other 1 [1]"
    assert key not in page.query_params


def test_a_used_picker_writes_the_plain_name_into_the_address(page):
    page.run().segmented_control[0].set_value("sep").run()
    assert shown(page) == "sep 1 [1]"
    assert page.query_params["p_kind"] == "sep"


def test_going_back_in_the_address_goes_back_in_the_picker(page):
    page.run().number_input[0].set_value(4).run()
    page.number_input[0].set_value(6).run()
    page.query_params["p_head"] = "4"
    assert shown(page.run()) == "other 4 [1]"
    del page.query_params["p_head"]
    assert shown(page.run()) == "other 1 [1]"


COLLECTED = """
import streamlit as st
from pages.kit.address import Choice, draw, one_entry, stop
from pages.kit.address import choose
from pages.kit.picker import pick


def both():
    choose("p_kind", "two")
    choose("p_side", "two")


st.button("both", on_click=both)
with one_entry():
    choice = Choice("file", ["a", "b"], "a", named=True)
    draw(choice, lambda: st.selectbox("File", ["a", "b"], key="file"))
    kind, side = (
        pick(key, key, ["one", "two"], default="one", format=str, named=False)
        for key in ("p_kind", "p_side")
    )
    st.text(f"{kind} {side}")
    if kind == "two":
        stop()
"""


def test_an_action_that_makes_several_choices_is_one_entry_of_the_history(monkeypatch):
    entries, write = [], QueryParamsProxy.from_dict

    def note(address, values):
        entries.append(values)
        write(address, values)

    monkeypatch.setattr(QueryParamsProxy, "from_dict", note)
    page = AppTest.from_string(COLLECTED, default_timeout=30).run()
    assert not entries
    page.button[0].click().run()
    assert shown(page) == "two two"
    assert entries == [{"file": ["a"], "p_kind": ["two"], "p_side": ["two"]}]


FOLDED = """
import streamlit as st
from pages.kit.folds import folded

folded("expander", "More", "more", lambda: st.markdown("inside"))
"""


def test_what_is_folded_is_made_once_it_is_opened(monkeypatch):
    monkeypatch.setattr(folds, "is_open", lambda place: bool(place.open))
    session = AppTest.from_string(FOLDED, default_timeout=30).run()
    assert [fold.label for fold in session.expander] == ["More"]
    assert not session.markdown
    session.session_state["more"] = True
    assert [text.value for text in session.run().markdown] == ["inside"]
