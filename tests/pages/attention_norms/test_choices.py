"""Links restore every choice; clicks in charts and tables move the pickers, and only once."""

from tests.pages.conftest import charts, frames, in_address
from tests.pages.kit.figures import click


def test_a_link_restores_the_heads_of_a_spectrum(opened, store_folder):
    session = opened("attention_norms", store_folder, alone=True, an_view="spectra")
    session.query_params["an_heads"] = ["2-3", "1-1"]
    session.run()
    assert session.session_state["an_heads"] == ["2-3", "1-1"]


def test_an_old_link_opens_its_head(section):
    session = section("heads", an_layer="2", an_head="3")
    assert session.session_state["head"] == "2-3"
    assert in_address(session, "head") == ["2-3"]
    assert in_address(session, "an_head") == []


def another_head(session) -> tuple[int, int]:
    """A layer and a head, both other than those that are shown; the store has 2 by 3."""
    layer, head = map(int, session.session_state["head"].split("-"))
    return 3 - layer, head % 3 + 1


def test_a_click_on_a_cell_opens_its_head_and_does_not_undo_a_newer_choice(section):
    session = section("heads")
    for part in ("cell_attention", "cell_weighted_norm"):
        layer, head = another_head(session)
        click(session, "an_maps", part, {"layer": layer, "head": head})
        assert session.session_state["head"] == f"{layer}-{head}"
        assert in_address(session, "head") == [f"{layer}-{head}"]
    newer = f"{layer}-{head % 3 + 1}"
    session.selectbox(key="head").set_value(newer).run()
    session.run()
    assert session.session_state["head"] == newer


def test_a_click_on_the_map_of_dispersion_opens_its_head(section):
    session = section("dispersion")
    layer, head = another_head(session)
    click(session, "an_map", "cell", {"layer": layer, "head": head})
    assert in_address(session, "head") == [f"{layer}-{head}"]


def test_a_click_on_a_correlation_shows_the_pairs_of_its_head(section, answers):
    session = section("relation", an_type="other")
    click(session, "an_heads", "cell", {"layer": 2, "head": 3})
    assert in_address(session, "an_scope") == ["head"]
    ((pairs,),) = answers(
        "select sum(n) from attention_norm_histogram where layer = 2 and head = 3"
    )
    assert frames(session)[0]["pairs"].sum() == pairs


def test_the_head_that_was_clicked_is_framed(section):
    session = section("heads", head="2-3")
    (chart,) = charts(session)
    rings = [part["layer"][1]["transform"][0]["filter"] for part in chart["concat"]]
    assert len(rings) == 3
    assert all("=== 2" in ring and "=== 3" in ring for ring in rings)


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


def test_a_button_leads_from_a_map_to_the_tokens_of_the_head(section):
    session = section("heads", head="2-3")
    [button] = [candidate for candidate in session.button if "layer 2, head 3" in candidate.label]
    button.click().run()
    assert in_address(session, "an_view") == ["head"]
    assert in_address(session, "head") == ["2-3"]
