"""All choices are in the address; what is no choice is ignored."""

import pytest

from tests.pages.conftest import in_address

VALUES = {
    "relations": {
        "sy_merging": "first",
        "sy_chosen_on": "second",
        "sy_least": "3",
        "sy_relation": "det",
    },
    "heads": {"sy_direction": "head_to_dependent", "head": "2-2", "sy_relation": "conj"},
    "one_head": {"head": "1-3", "sy_merging": "first", "sy_least": "2"},
    "sentences": {"sy_relation": "det", "sy_arcs": "everything", "head": "2-1"},
}


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("view", VALUES)
def test_a_link_restores_every_choice(view, lang, section):
    session = section(view, lang=lang, **VALUES[view])
    for key, value in VALUES[view].items():
        assert str(session.session_state[key]) == value
        assert in_address(session, key) == [value]


@pytest.mark.parametrize("key", ["sy_merging", "sy_direction", "head", "sy_relation"])
def test_what_is_no_choice_is_ignored(key, section):
    plain, hostile = section("heads"), section("heads", **{key: "<script>"})
    assert hostile.session_state[key] == plain.session_state[key]


def test_a_sentence_that_lacks_the_relation_is_not_shown(section, told):
    ((seq,),) = told(
        "select min(seq) from sequence where seq not in (select seq from word where "
        "relation = 'obj')"
    )
    session = section("sentences", sy_relation="obj", sy_sentence=f"{seq}-0")
    assert session.session_state["sy_sentence"] != f"{seq}-0"
