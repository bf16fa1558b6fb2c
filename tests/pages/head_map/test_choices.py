"""Links restore every choice; clicks choose a head; what is not there shows the default."""

import pytest

from tests.pages.conftest import bodies, in_address


@pytest.mark.parametrize(
    ("view", "key", "value", "expected"),
    [
        ("map", "head", "2-1", "2-1"),
        ("map", "hm_neighbour", "0.30", "0.30"),
        ("map", "hm_entropy", "2.5", "2.5"),
        ("map", "hm_token_type", "0.90", "0.90"),
        ("groups", "hm_k", "3", 3),
        ("distances", "hm_order", "alike", "alike"),
    ],
)
def test_a_link_restores_a_choice(view, key, value, expected, section):
    session = section(view, **{key: value})
    assert session.session_state[key] == expected
    assert in_address(session, key) == [value]


@pytest.mark.parametrize("value", ["9-9", "x", "<b>"])
def test_a_link_to_what_is_not_there_shows_the_default(value, section, told):
    session = section("map", head=value, hm_neighbour=value)
    ((layer, head),) = told(
        "select layer_a, head_a from head_distance_mean group by all "
        "order by avg(mean_divergence) desc limit 1"
    )
    assert session.session_state["head"] == f"{layer}-{head}"
    assert session.session_state["hm_neighbour"] == "0.50"


@pytest.mark.parametrize(
    ("view", "name"),
    [
        ("map", "hm_by_layer"),
        ("map", "hm_by_behaviour"),
        ("groups", "hm_tree"),
        ("groups", "hm_plane"),
        ("distances", "hm_matrix"),
    ],
)
def test_a_click_chooses_the_head_and_its_card_is_shown(view, name, section):
    session = section(view, head="1-1")
    key = session.session_state[f"{name} drawn"].key
    session.session_state[key] = {"selection": {"mark": [{"layer": 2, "head": 3}]}}
    session.run()
    assert session.session_state["head"] == "2-3"
    assert in_address(session, "head") == ["2-3"]
    assert "layer 2, head 3" in bodies(session)
    session.selectbox(key="head").set_value("1-2").run()
    session.run()
    assert session.session_state["head"] == "1-2", "an old click undid a newer choice"
    assert "layer 1, head 2" in bodies(session)
