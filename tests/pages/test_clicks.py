"""A click in a figure chooses what was clicked, and buttons lead on with the choice."""

import pytest

from pages.kit.links import VIEWS
from tests.pages.conftest import assert_sound, in_address
from tests.pages.kit.figures import click

pytestmark = pytest.mark.slow
FILES = {"syntax": "treebank", "coreference": "treebank"}
HEAD, ANOTHER = {"layer": 2, "head": 3}, {"layer": 1, "head": 2}
PAIR = {"source": "cat", "target": "sat"}
OF_PAIR = {"tp_view": "workbench", "tp_source": "cat", "tp_target": "sat"}
MARK, CELL = ("mark", HEAD, {"head": "2-3"}), ("cell", HEAD, {"head": "2-3"})
CLICKS = [
    ("norms", "heads", "an_maps", "cell_attention", HEAD, {"head": "2-3"}),
    ("norms", "heads", "an_maps", "cell_weighted_norm", HEAD, {"head": "2-3"}),
    ("norms", "transformation", "an_map", *CELL),
    (
        "norms",
        "relation&an_type=other",
        "an_heads",
        *CELL[:2],
        {"an_scope": "head", "head": "2-3"},
    ),
    ("habits", "layers", "hh_question_special", *MARK),
    ("habits", "layers&hh_group=breadth", "hh_question_breadth", *MARK),
    ("habits", "matters", "hh_scatter", "point", *MARK[1:]),
    ("head_map", "map", "hm_by_layer", *MARK),
    ("head_map", "map", "hm_by_behaviour", *MARK),
    ("head_map", "map&hm_colour=change", "hm_by_effect", *MARK),
    ("head_map", "groups", "hm_tree", *MARK),
    ("head_map", "groups", "hm_plane", *MARK),
    ("positions", "content", "po_grid", *CELL),
    ("positions", "heads", "po_profiles", *CELL),
    ("positions", "claim", "po_map", *CELL),
    ("sinks", "heads", "si_map", *CELL),
    ("coreference", "heads", "co_map", *CELL),
    ("syntax", "heads", "sy_map", *CELL),
    (
        *("syntax", "relations&sy_chosen_on=all", "sy_rows", "row"),
        *({"relation": "cc"}, {"sy_relation": "cc"}),
    ),
    ("relevance", "corpus", "re_head_map", "cell", ANOTHER, {"re_head": "2", "re_layer": "1"}),
    ("token_pairs", "workbench", "tp_pairs", "point", PAIR, OF_PAIR),
    ("token_pairs", "tables", "tp_amplified", "point", {"layer": 2, **PAIR}, OF_PAIR),
    ("token_pairs", "pmi", "tp_pmi_points", "point", PAIR, OF_PAIR),
    (
        *("layer_mixing", "similarity", "lm_matrix", "cell"),
        {"scope_a": "attn", "scope_b": "attn_w"},
        {"lm_scope_a": "attn", "lm_scope_b": "attn_w"},
    ),
]
"""Page, section, figure, its selection, the clicked values, and what the address has then."""


@pytest.fixture
def at(opened, request):
    """Open a section on a file that has what it shows."""

    def open_section(page: str, view: str, **address: str):
        folder = request.getfixturevalue(f"{FILES.get(page, 'store')}_folder")
        view, *more = view.split("&")
        place = {VIEWS[page]: view} | dict(choice.split("=") for choice in more)
        session = opened(page, folder, **place, **address)
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


def test_a_button_leads_on_with_the_head(at):
    session = at("syntax", "heads", head="2-3")
    [button] = [button for button in session.button if button.key == "sy_to_sentences"]
    button.click().run()
    assert_sound(session)
    assert session.session_state["sy_view"] == "sentences"
    assert session.session_state["head"] == "2-3"


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
