"""All choices are in the address; what is no choice is ignored."""


def test_a_sentence_that_lacks_the_relation_is_not_shown(section, answers):
    ((seq,),) = answers(
        "select min(seq) from sequence where seq not in (select seq from word where "
        "relation = 'obj')"
    )
    session = section("sentences", sy_relation="obj", sy_sentence=f"{seq}-0")
    assert session.session_state["sy_sentence"] != f"{seq}-0"
