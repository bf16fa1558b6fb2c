"""Links restore every choice of the page."""

import pytest

from analysis.tables.positions.offset_agreement import MIN_DEPENDENCES
from tests.pages.conftest import in_address

LEAST = [f"{each:g}" for each in MIN_DEPENDENCES]


@pytest.mark.parametrize(
    ("view", "key", "value", "expected"),
    [
        ("embeddings", "po_scale", "log", "log"),
        ("states", "po_scale", "log", "log"),
        ("states", "po_amount", "mean", "mean"),
        ("states", "po_states_layer", "2", 2),
        ("states", "po_source", "hidden", "hidden"),
        ("one_head", "po_direction", "2", 2),
        ("one_head", "po_amplitude", "amplitude", "amplitude"),
        ("one_head", "po_frequency", "256", 256),
        ("one_head", "po_reach", "64", 64),
        ("one_head", "po_counting", "per_pair", "per_pair"),
        ("heads", "po_k", "3", 3),
        *(("claim", "po_least", least, least) for least in LEAST[1:]),
    ],
)
def test_a_link_restores_a_choice(view, key, value, expected, section):
    session = section(view, **{key: value})
    assert session.session_state[key] == expected
    assert in_address(session, key) == [value]


def test_what_is_chosen_by_default_is_not_in_the_address(section):
    session = section("claim", po_least="0")
    assert session.session_state["po_least"] == "0"
    assert in_address(session, "po_least") == []


@pytest.mark.parametrize("value", ["999", "x", "<b>"])
def test_a_link_to_what_is_not_there_shows_the_default(value, section):
    choices = {"po_length": value, "po_states_layer": value, "po_amount": value}
    session = section("states", **choices)
    shown = {key: session.session_state[key] for key in choices}
    assert shown == {"po_length": 16, "po_states_layer": 1, "po_amount": "max"}


def test_a_logarithmic_axis_is_one(section, exported):
    section("embeddings", po_scale="log")
    _, chart = exported["po_embeddings_spectrum_log"]
    lines = chart.layer[0].layer[-1].to_dict()
    assert lines["encoding"]["y"]["scale"]["type"] == "log"
