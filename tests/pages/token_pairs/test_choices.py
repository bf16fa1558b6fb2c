"""Links restore every choice; clicks in charts and tables open a pair, and only once."""

from html import unescape
from urllib.parse import parse_qs

from pages.token_pairs.page import PAGE
from pages.ui.choices.address import LONGEST_TEXT
from tests.pages.conftest import bodies, frames, in_address
from tests.pages.kit.figures import click

PAIR = {"source": "cat", "target": "sat"}


def test_a_text_of_a_link_is_cut_to_what_can_be_typed(section):
    session = section("workbench", tp_text="<" * 999)
    assert session.session_state["tp_text"] == "<" * LONGEST_TEXT


def test_every_cell_of_the_overview_links_to_its_pair(section, opened, store_folder):
    filters = {"tp_effect": "ff_res", "tp_least": "3", "tp_special": "out", "tp_rank": "mean"}
    session = section("tables", lang="ja", **filters)
    links = [part.split('"')[0] for part in bodies(session).split('href="')[1:]]
    assert len(links) > 10
    address = {}
    for link in links:
        address = {key: values[0] for key, values in parse_qs(unescape(link)[1:]).items()}
        assert address["lang"] == "ja"
        assert address["tp_view"] == "workbench"
        assert {key: address[key] for key in filters} == filters
    pair = opened("token_pairs", store_folder, **address)
    assert {key: str(pair.session_state[key]) for key in filters} == filters
    assert pair.text_input(key="tp_source").value == address["tp_source"]
    assert not pair.info


def chosen(session) -> tuple[str, str]:
    """The pair that is looked at."""
    source, target = (session.text_input(key=f"tp_{side}").value for side in PAIR)
    return source, target


def test_the_row_that_was_clicked_is_the_one_that_was_drawn(section):
    session = section("workbench", tp_text="dog", tp_layer="2")
    row = frames(session)[0].iloc[1]
    click(session, "tp_pairs_table", "rows", 1)
    assert chosen(session) == (row["source"], row["target"])


def test_a_click_leads_to_the_first_sentences_and_does_not_undo_a_newer_choice(section):
    session = section("workbench", tp_source="cat", tp_target="sat", tp_page="2")
    click(session, "tp_pairs_table", "rows", 1)
    assert session.session_state["tp_page"] == 1
    session.text_input(key="tp_source").set_value("cat").run()
    session.text_input(key="tp_target").set_value("sat").run()
    session.run()
    assert chosen(session) == ("cat", "sat")
    session.segmented_control(key="tp_view").set_value("tables").run()
    session.run()
    assert in_address(session, "tp_view") == ["tables"]


def test_addresses_of_sections_that_were_lead_to_what_they_showed(section):
    written = {"tp_layer": "2", "tp_least": "3", "tp_clear": "only", "tp_text": "cat"}
    session = section("browse", **written, tp_source="cat", tp_target="sat")
    assert session.session_state["tp_view"] == "workbench"
    assert {key: str(session.session_state[key]) for key in written} == written
    assert chosen(session) == ("cat", "sat")
    assert in_address(session, "tp_view") == ["browse"], "Back would lead here again"
    assert set(PAGE.moved) == {"layer", "browse", "pair"}
    assert set(PAGE.moved.values()) == {"workbench"}
