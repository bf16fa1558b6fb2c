"""Links and clicks make choices, and what is not there shows the default."""

from importlib import import_module
from urllib.parse import parse_qsl

import pytest

from pages.kit.links import MOVED, RENAMED, VIEWS, current_place
from pages.services.open_file import described, version_of
from tests.pages.conftest import assert_sound, captions, charts, in_address
from tests.pages.kit.openings import click
from tests.pages.kit.section_checks import stems

pytestmark = pytest.mark.slow

CHOICES = {"po_carrier": "states", "po_states_layer": "2", "po_shown": "ratio"}
"""Choices of a section, each another than the default."""


@pytest.mark.parametrize("value", ["9999999", "<b>"])
def test_a_link_to_what_is_not_there_shows_the_default_and_says_so(value, opened, store_folder):
    choices = {**CHOICES, "po_carrier": value}
    session = opened("positions", store_folder, po_view="waves", **choices)
    assert session.session_state["po_carrier"] == "embeddings"
    assert not in_address(session, "po_carrier")
    assert any("po_carrier = " in toast.value for toast in session.toast)


def test_a_link_says_that_it_was_made_of_another_content(opened, store_folder):
    content = described(version_of(store_folder / "tiny.duckdb")).content
    session = opened("layer_mixing", store_folder, content="00000000")
    [line] = [caption.value for caption in session.main.caption if "another tiny" in caption.value]
    assert "with the content 00000000; it is " + content in line
    kinds = [element.type for element in session.main]
    assert kinds.index("title") < kinds.index("caption") < kinds.index("vega_lite_chart")
    assert "another tiny" not in " ".join(element.value for element in session.sidebar.caption)
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
    assert in_address(session, "file") == ["gone.duckdb"]
    [link] = [link.proto for link in session.main.get("page_link")]
    assert link.page == "layer-mixing"
    expected = {"file": "tiny.duckdb", "lang": "en", **view}
    assert dict(parse_qsl(link.query_string)) == expected


@pytest.mark.parametrize(
    ("page", "query", "current"),
    [
        ("attention-norms", "an_view=layers", "norms?an_view=layers"),
        (
            "attention-norms",
            "an_view=head&an_token=a&head=2-1",
            "head?he_token=a&head=2-1&he_view=tokens",
        ),
        ("head-habits", "hh_view=one_head&hh_head=2-1", "head?hh_head=2-1&he_view=profile"),
        ("sinks", "si_view=texts&file=x.duckdb", "head?file=x.duckdb&he_view=tokens"),
        ("positions", "po_view=one_head&po_reach=10", "head?he_reach=10&he_view=waves"),
        ("syntax", "sy_view=one_head&sy_least=2", "head?he_least=2&he_view=words"),
        ("positions", "po_view=claim", "positions?po_view=claim"),
    ],
)
def test_an_older_address_leads_to_where_its_section_is(page, query, current):
    pairs = [tuple(pair.split("=")) for pair in query.split("&")]
    now, kept = current_place(page, pairs)
    assert f"{now}?" + "&".join("=".join(pair) for pair in kept) == current


def test_every_older_section_leads_to_one_that_is_there():
    pages = {page: import_module(f"pages.{page}.page").PAGE for page in VIEWS}
    moved = {(page, old): (page, new) for page in pages for old, new in pages[page].moved.items()}
    assert len(moved) > 20
    assert all(new in stems(page) for page, new in (*moved.values(), *MOVED.values()))
    assert not [old for page, old in (*moved, *MOVED) if old in stems(page)]
    assert set(RENAMED.values()) <= set(VIEWS)


HEAD, ANOTHER = {"layer": 2, "head": 3}, {"layer": 1, "head": 2}
PAIR = {"source": "cat", "target": "sat"}
OF_PAIR = {"tp_view": "workbench", "tp_source": "cat", "tp_target": "sat"}
CLICKS = [
    (
        *("norms", "relation&an_type=other", "an_heads", "cell", HEAD),
        {"an_scope": "head", "head": "2-3"},
    ),
    ("relevance", "corpus", "re_head_map", "cell", ANOTHER, {"re_head": "2", "re_layer": "1"}),
    ("token_pairs", "tables", "tp_amplified", "point", {"layer": 2, **PAIR}, OF_PAIR),
]
"""Page, section, figure, its selection, the clicked values, and what the address has then."""


@pytest.fixture
def at(opened, store_folder):
    """Open a section of a page."""

    def open_section(page: str, view: str, **address: str):
        view, *more = view.split("&")
        place = {VIEWS[page]: view} | dict(choice.split("=") for choice in more)
        session = opened(page, store_folder, **place, **address)
        assert_sound(session)
        return session

    return open_section


@pytest.mark.parametrize(("page", "view", "figure", "part", "value", "chosen"), CLICKS)
def test_a_click_is_in_the_address(page, view, figure, part, value, chosen, at):
    session = at(page, view, **({"head": "1-1"} if "head" in chosen else {}))
    click(session, figure, part, value)
    assert_sound(session)
    assert {key: in_address(session, key) for key in chosen} == {
        key: [value] for key, value in chosen.items()
    }


def test_an_old_click_does_not_undo_a_newer_choice(at):
    session = at("norms", "heads")
    click(session, "an_maps", "cell_attention", HEAD)
    session.selectbox(key="head").set_value("1-2").run()
    session.run()
    assert session.session_state["head"] == "1-2"


@pytest.mark.parametrize(
    ("page", "view", "old"),
    [
        ("norms", "heads", {"an_layer": "2", "an_head": "3"}),
        ("layer_mixing", "ratio", {"sy_head": "2-3"}),
    ],
)
def test_an_old_link_names_its_head_as_all_pages_do(page, view, old, at):
    session = at(page, view, **old)
    assert in_address(session, "head") == ["2-3"]
    assert not any(in_address(session, key) for key in old if key != "an_layer")
