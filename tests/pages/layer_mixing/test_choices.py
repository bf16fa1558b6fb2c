"""Links restore every choice; a click on a cell compares its scopes, and only once."""

from tests.pages.conftest import charts, in_address
from tests.pages.kit.figures import click


def scopes(session) -> tuple[str, str]:
    return session.session_state["lm_scope_a"], session.session_state["lm_scope_b"]


def test_a_click_compares_the_scopes_of_its_cell_and_does_not_undo_a_newer_choice(section):
    session = section("similarity")
    assert not session.expander[0].proto.expanded
    before = scopes(session)
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn"})
    assert scopes(session) == before, "on the diagonal there is nothing to compare"
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_w"})
    assert scopes(session) == ("attn", "attn_w")
    assert in_address(session, "lm_scope_b") == ["attn_w"]
    assert session.expander[0].proto.expanded
    ring = charts(session)[0]["layer"][2]["transform"][0]["filter"]
    assert "'attn'" in ring
    assert "'attn_w'" in ring
    session.selectbox(key="lm_scope_a").set_value("attn_res").run()
    session.run()
    assert scopes(session) == ("attn_res", "attn_w")
    assert not session.info
    session.selectbox(key="lm_scope_a").set_value("attn_w").run()
    assert session.info, "a scope is not compared with itself"
