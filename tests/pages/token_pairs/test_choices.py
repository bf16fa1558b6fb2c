"""Links restore every choice; clicks in charts and tables open a pair, and only once."""

from html import unescape
from urllib.parse import parse_qs

import pytest

from pages.ui.choices.address import LONGEST_TEXT
from tests.pages.conftest import bodies, frames, in_address
from tests.pages.kit.figures import click

PAIR = {"source": "cat", "target": "sat"}


@pytest.mark.parametrize(("key", "value"), [("tp_map", "change"), ("tp_occurrence", 2)])
def test_a_link_restores_the_map_that_was_looked_at(key, value, section):
    chosen = {"tp_source": "cat", "tp_target": "sat", "tp_live": "live"}
    assert section("workbench", **chosen, **{key: str(value)}).session_state[key] == value


def test_a_text_of_a_link_is_cut_to_what_can_be_typed(section):
    session = section("workbench", tp_text="<" * 999)
    assert session.session_state["tp_text"] == "<" * LONGEST_TEXT


def test_every_cell_of_the_overview_links_to_its_pair(section, opened, store_folder):
    filters = {"tp_effect": "ff_res", "tp_least": "3", "tp_special": "out", "tp_rank": "mean"}
    session = section("tables", lang="ja", **filters)
    links = [each.split('"')[0] for each in bodies(session).split('href="')[1:]]
    assert len(links) > 10
    for link in links[:3]:
        told = {key: values[0] for key, values in parse_qs(unescape(link)[1:]).items()}
        assert told["lang"] == "ja"
        pair = opened("token_pairs", store_folder, **told)
        assert told["tp_view"] == "workbench"
        assert {key: str(pair.session_state[key]) for key in filters} == filters
        assert pair.text_input(key="tp_source").value == told["tp_source"]
        assert not pair.info


def chosen(session) -> tuple[str, str]:
    """The pair that is looked at."""
    source, target = (session.text_input(key=f"tp_{side}").value for side in PAIR)
    return source, target


@pytest.mark.parametrize(
    ("view", "name", "clicked"),
    [
        ("workbench", "tp_pairs", PAIR),
        ("workbench", "tp_pairs_table", 2),
        ("pmi", "tp_pmi_points", PAIR),
    ],
)
def test_a_click_opens_the_pair(view, name, clicked, section):
    session = section(view, tp_layer="2")
    pair = frames(session)[0].iloc[clicked] if isinstance(clicked, int) else clicked
    click(session, name, "rows" if isinstance(clicked, int) else "point", clicked)
    assert in_address(session, "tp_view") == ["workbench"]
    assert chosen(session) == (pair["source"], pair["target"])
    assert session.session_state["tp_layer"] == 2


def test_the_row_that_was_clicked_is_the_one_that_was_drawn(section):
    session = section("workbench", tp_text="dog", tp_layer="2")
    row = frames(session)[0].iloc[1]
    click(session, "tp_pairs_table", "rows", 1)
    assert chosen(session) == (row["source"], row["target"])


def test_an_old_click_does_not_undo_a_newer_choice(section):
    session = section("workbench")
    click(session, "tp_pairs_table", "rows", 1)
    session.text_input(key="tp_source").set_value("cat").run()
    session.text_input(key="tp_target").set_value("sat").run()
    session.run()
    assert chosen(session) == ("cat", "sat")
    session.segmented_control(key="tp_view").set_value("tables").run()
    session.run()
    assert in_address(session, "tp_view") == ["tables"]


def test_a_pair_opens_on_its_first_sentences(section):
    session = section("workbench", tp_source="cat", tp_target="sat", tp_page="2")
    click(session, "tp_pairs_table", "rows", 1)
    assert session.session_state["tp_page"] == 1


@pytest.mark.parametrize("view", ["layer", "browse", "pair"])
def test_addresses_of_sections_that_were_lead_to_what_they_showed(view, section):
    written = {"tp_layer": "2", "tp_least": "3", "tp_clear": "only", "tp_text": "cat"}
    session = section(view, **written, tp_source="cat", tp_target="sat")
    assert session.session_state["tp_view"] == "workbench"
    assert {key: str(session.session_state[key]) for key in written} == written
    assert chosen(session) == ("cat", "sat")
    assert in_address(session, "tp_view") == [view], "Back would lead here again"
