"""Links restore every choice; a click on a cell compares its scopes, and only once."""

from tests.pages.conftest import charts, in_address, sentences
from tests.pages.kit.figures import click


def scopes(session) -> tuple[str, str]:
    return session.session_state["lm_scope_a"], session.session_state["lm_scope_b"]


def test_a_click_compares_the_scopes_of_its_cell(section):
    session = section("similarity")
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_w"})
    assert scopes(session) == ("attn", "attn_w")
    assert in_address(session, "lm_scope_b") == ["attn_w"]
    ring = charts(session)[0]["layer"][2]["transform"][0]["filter"]
    assert "'attn'" in ring
    assert "'attn_w'" in ring


def test_the_fold_opens_once_other_scopes_are_chosen(section):
    session = section("similarity")
    assert not session.expander[0].proto.expanded
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_w"})
    assert session.expander[0].proto.expanded


def test_a_click_on_the_diagonal_compares_nothing_new(section):
    session = section("similarity")
    before = scopes(session)
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn"})
    assert scopes(session) == before


def test_an_old_click_does_not_undo_a_newer_choice(section):
    session = section("similarity")
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_w"})
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
