"""Links restore every choice; clicks in charts and tables move the pickers, and only once."""

from tests.pages.conftest import frames, in_address
from tests.pages.kit.figures import click


def test_a_click_on_a_ratio_draws_the_spectrum_of_its_head(section):
    session = section("spectra")
    assert session.session_state["an_heads"] == ["1-1", "2-1"]
    click(session, "an_map", "cell", {"layer": 2, "head": 3})
    assert session.session_state["an_heads"] == ["1-1", "2-1", "2-3"]
    click(session, "an_map", "cell", {"layer": 1, "head": 1})
    assert session.session_state["an_heads"] == ["2-1", "2-3"]


def test_a_click_on_a_row_reads_its_token_until_another_is_chosen(section):
    session = section("head", an_least="1")
    tokens = frames(session)[1]["token"].tolist()
    assert session.selectbox(key="an_token").value != tokens[2]
    click(session, "an_ranked_weighted_norm", "rows", 2)
    assert session.selectbox(key="an_token").value == tokens[2]
    assert in_address(session, "an_token") == [tokens[2]]
    session.selectbox(key="an_token").set_value("cat").run()
    session.run()
    assert session.selectbox(key="an_token").value == "cat", "an older row undid a newer choice"
