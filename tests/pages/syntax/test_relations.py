"""The best head of every relation: numbers are those of the file, and so is what is said."""

import pytest

from pages.syntax.names import UNIVERSAL
from tests.pages.conftest import sentences
from tests.pages.kit.figures import chart_of, frame_of


@pytest.mark.parametrize("least", [1, 10])
def test_rare_relations_are_hidden_and_counted(least, section, exported, answers):
    session = section("relations", sy_least=str(least))
    counts = answers("select relation, max(n) as n from dependency_accuracy group by relation")
    frequent = {relation for relation, n in counts if n >= least}
    assert set(frame_of(exported, "sy_relations_rows")["relation"]) == frequent
    hidden = f"{len(counts) - len(frequent)} relations with fewer than {least} words"
    assert any(text.value.startswith(hidden) for text in session.markdown)


PLANTED = (
    "update stored.dependency_best set accuracy = 0.5, accuracy_chosen = 0.5, "
    "offset_accuracy = 0.4, difference = 0.1, difference_low = -0.1, difference_high = 0.2",
    "update stored.dependency_best set accuracy = 0.9, difference = 0.5, difference_low = 0.2, "
    "layer = 2, head = 3, \"offset\" = -2, n_tried = 12 where relation = 'obj'",
    "update stored.dependency_best set accuracy = 0.25 where relation = 'all'",
)


def test_what_beats_the_offsets_is_counted_and_the_clearest_is_named(section, after, answers):
    after(*PLANTED)
    session = section("relations", sy_least="1")
    ((n,),) = answers(
        "select count(distinct relation) from dependency_accuracy "
        "where relation not in ('all', 'all_words')"
    )
    text = sentences(session)
    assert f"**For 1 of {n} relations the best head beats every fixed offset**" in text
    assert "The gap is widest for obj (" in text
    assert "layer 2, head 3 finds 90% of the governors, offset −2 finds 40%; +50.0 points" in text
    assert "is right for 25%" in text
    assert "best of 12 candidates (heads × directions) on the very words" in text


def test_what_being_chosen_was_worth_is_told_on_halves(section, after):
    after(*PLANTED, "update stored.dependency_best set accuracy_chosen = accuracy + 0.1")
    text = sentences(section("relations", sy_least="1", sy_chosen_on="second"))
    assert "its accuracy was 10.0 points higher" in text
    assert "on the very words" not in text


@pytest.mark.parametrize(("chosen_on", "series"), [("all", 1), ("first", 2)])
def test_halves_show_the_head_where_it_was_chosen_too(chosen_on, series, section, exported):
    section("relations", sy_chosen_on=chosen_on, sy_least="1")
    points = chart_of(exported, "sy_relations_rows").data
    assert points["series"].nunique() == series
    shown = frame_of(exported, "sy_relations_rows")
    assert len(points) == series * len(shown)
    if series == 2:
        chosen = points[points["series"] == "best head, where it was chosen"]
        assert chosen["accuracy"].tolist() == shown["accuracy_chosen"].tolist()
        assert chosen["low"].isna().all()


@pytest.mark.parametrize(
    ("n_obj", "n_det", "chosen"), [(100, 200, "obj"), (9, 100, "det"), (9, 20, "det")]
)
def test_the_clearest_of_the_frequent_relations_is_chosen(n_obj, n_det, chosen, section, after):
    counts = {"obj": n_obj, "det": n_det}
    statement = "update stored.dependency_best set n = {} where relation = '{}'"
    few = "update stored.dependency_best set n = 1 where relation not in ('obj', 'det')"
    after(*PLANTED, few, *(statement.format(n, relation) for relation, n in counts.items()))
    assert section("heads").session_state["sy_relation"] == chosen


def test_every_label_is_explained_with_how_often_it_occurs(section, answers):
    text = sentences(section("relations"))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(any(row.startswith(f"|{relation} · ") for row in rows) for relation in UNIVERSAL)
    ((n,),) = answers("select max(n) from dependency_accuracy where relation = 'det'")
    assert next(row for row in rows if row.startswith("|det · ")).endswith(f"|{n}|")
    assert next(row for row in rows if row.startswith("|clf · ")).endswith("|—|")
