"""Links restore every choice of the page."""

from tests.pages.conftest import in_address


def test_a_link_that_names_a_default_is_left_as_it_is(section):
    session = section("claim", po_least="0")
    assert session.session_state["po_least"] == "0"
    assert in_address(session, "po_least") == ["0"]


def test_a_logarithmic_axis_is_one(section, exported):
    section("embeddings", po_scale="log")
    _, chart = exported["po_embeddings_spectrum_log"]
    lines = chart.layer[0].layer[-1].to_dict()
    assert lines["encoding"]["y"]["scale"]["type"] == "log"
