"""All heads on one relation, and one head on all: numbers and sentences are those of the file."""

import pytest

from tests.pages.conftest import frames, in_address, sentences
from tests.pages.kit.figures import chart_of, click, frame_of

VIEW = "dependency_accuracy_merging"


def test_of_either_direction_each_head_shows_the_better_one(section, exported, answers):
    section("heads", sy_relation="det")
    shown = frame_of(exported, "sy_heads_map_det_either_mean").sort_values(["layer", "head"])
    expected = answers(
        f"select max(accuracy), arg_max(direction, accuracy), min(accuracy) from {VIEW} "
        "where relation = 'det' and merging = 'mean' group by layer, head order by layer, head"
    )
    assert shown["accuracy"].tolist() == pytest.approx([row[0] for row in expected])
    differ = [best > worst for best, _, worst in expected]
    assert any(differ)
    directions = zip(shown["direction"], expected, differ, strict=True)
    assert all(ours == theirs for ours, (_, theirs, _), apart in directions if apart)


ALL_WRONG = "update stored.dependency_accuracy set accuracy = 0.1, low = 0.05, high = 0.15"
BEST = (
    ALL_WRONG,
    "update stored.dependency_accuracy set accuracy = 0.8, low = 0.7, high = 0.9, n = 40 where "
    "relation = 'obj' and layer = 2 and head = 1 and direction = 'head_to_dependent'",
    "update stored.dependency_baseline set accuracy = 0.3 where relation = 'obj'",
    "update stored.dependency_baseline set accuracy = 0.6 "
    "where relation = 'obj' and \"offset\" = 2",
)


def test_the_best_head_and_what_beats_the_offset_are_told(section, after):
    after(*BEST)
    text = sentences(section("heads", sy_relation="obj"))
    assert "Of 40 words that are obj, **layer 2, head 1 finds the governor of 80%**" in text
    assert "[70%, 90%], governor → dependent." in text
    beyond = "In {} of 6 heads the interval lies above the best fixed offset, +2, which finds 60%"
    assert beyond.format(1) in text
    after(*BEST, "update stored.dependency_accuracy set low = 0.5 where low is not null")
    assert beyond.format(0) in sentences(section("heads", sy_relation="obj")), "by its interval"


def test_the_best_head_is_looked_at_until_another_is_chosen(section, after, exported):
    after(*BEST)
    session = section("heads", sy_relation="obj")
    assert session.session_state["head"] == "best"
    assert "sy_heads_map_obj_either_mean_weight_2_1" in exported
    click(session, "sy_map", "cell", {"layer": 1, "head": 3})
    assert session.session_state["head"] == "1-3"
    assert in_address(session, "head") == ["1-3"]
    session.selectbox(key="head").set_value("best").run()
    session.run()
    assert session.session_state["head"] == "best", "an old click undid a newer choice"


def test_the_best_head_of_the_address_is_that_of_its_relation(section, after, exported):
    after(*BEST)
    section("one_head", sy_relation="obj", sy_least="1")
    assert any(key.startswith("sy_one_head_accuracies_2_1_") for key in exported)


def test_a_relation_without_scores_is_said_to_have_none(section, after):
    after("delete from stored.dependency_accuracy where merging = 'first'")
    session = section("heads", sy_relation="obj", sy_merging="first")
    assert session.info[0].value == "No word of obj could be scored."


def test_what_one_head_does_best_is_told(section, after):
    after(*BEST, "update stored.dependency_baseline set accuracy = 0.5")
    session = section("one_head", head="2-1", sy_least="1")
    n = frames(session)[0]["relation_named"].nunique() - 2
    text = sentences(session)
    assert f"**On 1 of {n} relations layer 2, head 1 is clearly better" in text
    assert "The gap is widest for obj, governor → dependent: 80% against 50%." in text
    text = sentences(section("one_head", head="1-1", sy_least="1"))
    assert "**On no relation does the interval of layer 1, head 1 lie above" in text


def test_a_click_on_a_relation_of_a_head_chooses_it_and_keeps_the_head(section, exported):
    session = section("one_head", sy_relation="obj", sy_least="1")
    assert session.session_state["head"] == "best"
    shown = frame_of(exported, "sy_one_head_accuracies")
    (clicked,) = chart_of(exported, "sy_one_head_accuracies").params
    row = shown[shown["relation"] == "cc"].iloc[0]
    click(session, "sy_accuracies", clicked.name, dict(row[clicked.select["fields"]]))
    assert in_address(session, "sy_relation") == ["cc"]
    assert in_address(session, "head") == [f"{row['layer']}-{row['head']}"]


def test_rare_relations_of_a_head_are_hidden(section):
    session = section("one_head", head="1-2", sy_least="100000")
    assert session.info[0].value == "No relation has 100,000 words or more."
