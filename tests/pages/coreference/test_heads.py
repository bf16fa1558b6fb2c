"""All heads by type of mention, what all sections export, and a file that has no mentions."""

from tests.pages.conftest import sentences


def test_heads_are_above_a_rule_where_their_interval_is(section, after):
    after(
        "update stored.coreference_accuracy set accuracy = 0.5, low = 0.4, high = 0.6",
        "update stored.coreference_accuracy set accuracy = 0.45 where method = 'sieve'",
        "update stored.coreference_accuracy set accuracy = 0.3 where method = 'nearest'",
    )
    text = sentences(section("heads"))
    assert "6 have a 95% interval above “nearest mention” (30%)" in text
    assert "0 have a 95% interval above “sieve of rules” (45%)" in text


def test_the_best_head_is_chosen_unless_another_is(section, answers):
    ((best,),) = answers(
        "select layer || '-' || head from coreference_accuracy where method = 'head' "
        "and mention_type = 'all' order by accuracy desc, layer, head limit 1"
    )
    assert section("heads").session_state["head"] == best
    assert section("heads", head="1-3").session_state["head"] == "1-3"


def test_a_file_without_mentions_is_told_with_its_remedy(section, plain_folder):
    session = section("heads", plain_folder)
    assert "no mentions are marked" in session.info[0].value
    assert "--corpus demo-treebank" in session.code[0].value
