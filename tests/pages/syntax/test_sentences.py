"""Sentences show the tree of the file and what the head predicts there."""

import pandas as pd
import pytest

from analysis.statistics.probing.parser_input import SHOWN
from pages.syntax.sentences import _deciding
from tests.pages.conftest import frames, in_address
from tests.pages.kit.figures import chart_of, click, frame_of

PROBE = {"head": "1-2", "sy_direction": "dependent_to_head", "sy_merging": "first"}
WHERE = "layer = 1 and head = 2 and direction = 'dependent_to_head' and merging = 'first'"


@pytest.fixture
def predictions(answers):
    """Prediction of the head for every word, from the file."""
    rows = answers(f"select seq, predicted from dependency_prediction where {WHERE}")
    return dict(rows)


def test_the_words_and_predictions_of_a_sentence_are_those_of_the_file(
    section, exported, answers, predictions
):
    section("sentences", sy_relation="obj", sy_sentence="3-0", **PROBE)
    shown = frame_of(exported, "sy_sentences_drawing_3_0_obj")
    expected = answers(
        "select word, form, relation, governor from word where seq = 3 and sentence = 0 "
        "order by word"
    )
    assert len(expected) > 3
    for row, (word, form, relation, governor) in zip(shown.itertuples(), expected, strict=True):
        assert (row.word, row.form, row.relation) == (word, form, relation)
        assert row.predicted == predictions[3][word]
        assert row.of_relation == (relation == "obj")
        assert pd.isna(row.governor) if governor is None else row.governor == governor
        assert row.right == (governor is not None and governor == predictions[3][word])


def test_only_the_words_of_the_chosen_sentence_are_shown(section, exported, answers):
    ((seq,),) = answers("select min(seq) from word where sentence = 1")
    section("sentences", sy_relation="det", sy_sentence=f"{seq}-1", **PROBE)
    shown = frame_of(exported, f"sy_sentences_drawing_{seq}_1_det")
    expected = answers(f"select word from word where seq = {seq} and sentence = 1 order by word")
    assert shown["word"].tolist() == [word for (word,) in expected]
    assert shown["word"].iloc[0] > 0


@pytest.mark.parametrize("relation", ["det", "all", "all_words"])
def test_the_list_counts_what_is_right_in_every_sentence(relation, section, answers, predictions):
    session = section("sentences", sy_relation=relation, **PROBE)
    listed = next(frame for frame in frames(session) if "n_right" in frame)
    left_out = {"all": ("root", "punct"), "all_words": ()}.get(relation)
    words = answers("select seq, sentence, word, relation, governor from word order by all")
    counted: dict[tuple[int, int], list[bool]] = {}
    for seq, sentence, word, label, governor in words:
        of_it = label.split(":")[0] == relation if left_out is None else label not in left_out
        if of_it:
            right = governor is not None and predictions[seq][word] == governor
            counted.setdefault((seq, sentence), []).append(right)
    expected = sorted((seq, len(hits), sum(hits)) for (seq, _), hits in counted.items())
    shown = listed[["seq", "n", "n_right"]].itertuples(index=False, name=None)
    assert sorted(shown) == expected


@pytest.mark.parametrize(
    ("which", "kept"),
    [("mistaken", lambda f: f["n_right"] < f["n"]), ("right", lambda f: f["n_right"] == f["n"])],
)
def test_sentences_with_and_without_mistakes_can_be_asked_for(which, kept, section):
    session = section("sentences", sy_relation="det", sy_which=which, **PROBE)
    lists = [frame for frame in frames(session) if "n_right" in frame]
    if not lists:
        assert session.info
    else:
        assert kept(lists[0]).all()
        assert len(lists[0])


def test_a_row_of_the_list_chooses_its_sentence(section, exported):
    session = section("sentences", sy_relation="det", **PROBE)
    listed = next(frame for frame in frames(session) if "n_right" in frame)
    click(session, "sy_list", "rows", 2)
    seq = int(listed["seq"].iloc[2])
    assert session.session_state["sy_sentence"].startswith(f"{seq}-")
    assert any(key.startswith(f"sy_sentences_drawing_{seq}_") for key in exported)
    assert in_address(session, "sy_sentence") == [session.session_state["sy_sentence"]]


def test_the_head_says_nothing_of_other_words_unless_asked(section, exported):
    section("sentences", sy_relation="obj", sy_sentence="3-0", **PROBE)
    few = chart_of(exported, "sy_sentences_drawing_3_0").layer[0].data
    exported.clear()
    section("sentences", sy_relation="obj", sy_sentence="3-0", sy_arcs="everything", **PROBE)
    many = chart_of(exported, "sy_sentences_drawing_3_0").layer[0].data
    of_head = ["right", "wrong"]
    assert few.loc[few["kind"].isin(of_head), "arc"].nunique() == 1
    assert many.loc[many["kind"].isin(of_head), "arc"].nunique() > 1


def test_a_sequence_whose_weights_are_not_kept_is_said_to_have_none(section, after):
    after("delete from stored.word_attention where seq = 3")
    session = section("sentences", sy_relation="obj", sy_sentence="3-0")
    assert any(f"first {SHOWN} sequences only" in caption.value for caption in session.caption)


@pytest.mark.parametrize(
    ("relation", "behind", "expected"),
    [("poss", "'s", 5), ("poss", "s'", 5), ("poss", "dog", 2), ("nmod:poss", "'s", 2)],
)
def test_a_possessor_is_scored_by_the_s_behind_it(relation, behind, expected):
    words = pd.DataFrame(
        {"form": ["Ann", behind], "relation": [relation, "case"], "predicted": [2, 5]}
    )
    assert _deciding(words).tolist() == [expected, 5]


def test_a_possessor_at_the_end_is_scored_by_itself():
    words = pd.DataFrame({"form": ["'s", "Ann"], "relation": ["case", "poss"], "predicted": [3, 0]})
    assert _deciding(words).tolist() == [3, 0]


def test_a_sentence_that_lacks_the_relation_is_not_shown(section, answers):
    ((seq,),) = answers(
        "select min(seq) from sequence where seq not in (select seq from word where "
        "relation = 'obj')"
    )
    session = section("sentences", sy_relation="obj", sy_sentence=f"{seq}-0")
    assert session.session_state["sy_sentence"] != f"{seq}-0"
