"""Links restore every choice; clicks choose a head; what is not there shows the default."""

import pytest

from tests.pages.conftest import bodies, in_address
from tests.pages.kit.figures import click


def test_the_head_that_is_farthest_from_all_others_comes_first(section, answers):
    session = section("map")
    ((layer, head),) = answers(
        "select layer_a, head_a from head_distance_mean group by all "
        "order by avg(mean_divergence) desc limit 1"
    )
    assert session.session_state["head"] == f"{layer}-{head}"


@pytest.mark.parametrize(
    ("view", "names"),
    [
        ("map", ("hm_by_layer", "hm_by_behaviour")),
        ("groups", ("hm_tree", "hm_plane")),
        ("distances", ("hm_matrix",)),
    ],
)
def test_a_click_chooses_the_head(view, names, section):
    session = section(view, head="1-1")
    for head, name in enumerate(names, start=2):
        click(session, name, "mark", {"layer": 2, "head": head})
        assert session.session_state["head"] == f"2-{head}"
        assert in_address(session, "head") == [f"2-{head}"]


def test_an_old_click_does_not_undo_a_newer_choice_whose_card_is_shown(section):
    session = section("distances", head="1-1")
    click(session, "hm_matrix", "mark", {"layer": 2, "head": 3})
    session.selectbox(key="head").set_value("1-2").run()
    assert "Layer 1, head 2" in bodies(session.button(key="head_drawer").click().run())
    assert session.session_state["head"] == "1-2"
