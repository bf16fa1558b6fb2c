"""Links restore every choice; a click on a cell compares its scopes, and only once."""

import pytest

from tests.pages.conftest import charts, in_address, sentences


@pytest.mark.parametrize(
    ("view", "key", "value"),
    [
        ("similarity", "lm_layer", "2"),
        ("similarity", "lm_scope_a", "attn_w"),
        ("similarity", "lm_scope_b", "attn_res"),
        ("ratio", "lm_type", "cls"),
        ("ratio", "lm_span", "residual"),
        ("ratio", "lm_scope", "attn"),
        ("modules", "lm_effect", "ff_ln"),
        ("modules", "lm_quantity", "loss"),
        ("rollout", "lm_rollout", "attn_w"),
        ("vectors", "lm_vectors", "attention_rollout"),
    ],
)
def test_a_link_restores_a_choice(view, key, value, section):
    session = section(view, **{key: value})
    assert session.session_state[key] == value
    assert in_address(session, key) == [value]


@pytest.mark.parametrize("value", ["999", "x", "<b>"])
def test_a_link_to_what_is_not_there_shows_the_default(value, section):
    session = section("similarity", lm_layer=value, lm_scope_a=value)
    assert session.session_state["lm_layer"] == "mean"
    assert session.session_state["lm_scope_a"] == "attn_res_ln"


def click(session, scope_a: str, scope_b: str) -> None:
    """Select a cell of the matrix as it was drawn last."""
    key = session.session_state["lm_matrix drawn"].key
    cell = {"scope_a": scope_a, "scope_b": scope_b}
    session.session_state[key] = {"selection": {"cell": [cell]}}
    session.run()


def scopes(session) -> tuple[str, str]:
    return session.session_state["lm_scope_a"], session.session_state["lm_scope_b"]


def test_a_click_compares_the_scopes_of_its_cell(section):
    session = section("similarity")
    click(session, "attn", "attn_w")
    assert scopes(session) == ("attn", "attn_w")
    assert in_address(session, "lm_scope_b") == ["attn_w"]
    ring = charts(session)[0]["layer"][2]["transform"][0]["filter"]
    assert "'attn'" in ring
    assert "'attn_w'" in ring


def test_the_fold_opens_once_other_scopes_are_chosen(section):
    session = section("similarity")
    assert not session.expander[0].proto.expanded
    click(session, "attn", "attn_w")
    assert session.expander[0].proto.expanded


def test_a_click_on_the_diagonal_compares_nothing_new(section):
    session = section("similarity")
    before = scopes(session)
    click(session, "attn", "attn")
    assert scopes(session) == before


def test_an_old_click_does_not_undo_a_newer_choice(section):
    session = section("similarity")
    click(session, "attn", "attn_w")
    session.selectbox(key="lm_scope_a").set_value("attn_res").run()
    session.run()
    assert scopes(session) == ("attn_res", "attn_w")


def test_a_scope_is_not_compared_with_itself(section):
    session = section("similarity", lm_scope_a="attn", lm_scope_b="attn")
    assert session.info


def test_a_text_is_read_as_it_stands_in_the_file(changed, section):
    folder = changed("update stored.sequence set text = '<b>*x* $y$</b>'")
    told = sentences(section("similarity", folder))
    assert r"\<b\>\*x\* \$y\$" in told
