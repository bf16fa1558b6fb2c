"""The best head of every relation: numbers are those of the file, and so is what is said."""

import pytest

from analysis.published.heads import numbers
from pages.syntax.names import UNIVERSAL
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.figures import chart_of, frame_of


@pytest.mark.parametrize(("least", "asked"), [(1, {"sy_least": "1"}), (10, {})])
def test_rare_relations_are_hidden_and_counted(least, asked, section, exported, answers):
    session = section("relations", **asked)
    counts = answers("select relation, max(n) as n from dependency_accuracy group by relation")
    frequent = {relation for relation, n in counts if n >= least}
    assert set(frame_of(exported, "sy_relations_rows")["relation"]) == frequent
    labels = set(chart_of(exported, "sy_relations_rows").data["relation_named"])
    of = dict(counts)
    assert {int(label.split("n = ")[1][:-1]) for label in labels} == {of[r] for r in frequent}
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


@pytest.mark.parametrize("weighing", ["weight", "norm"])
def test_published_heads_and_maps_of_weights_are_of_weights_alone(weighing, section):
    labels = [fold.label for fold in section("relations", sy_weighing=weighing).expander]
    assert any("Published" in label for label in labels) == (weighing == "weight")
    captions = [caption.value for caption in section("sentences", sy_weighing=weighing).caption]
    assert any("arcs above use norms" in caption for caption in captions) == (weighing == "norm")


@pytest.mark.parametrize(("view", "lang"), [("relations", "en"), ("parsers", "ja")])
def test_a_corpus_without_trees_leads_to_a_treebank(view, lang, section, plain_folder):
    session = section(view, plain_folder, lang=lang)
    assert r"tiny\.duckdb" in session.info[0].value
    assert r"text\.txt" in session.info[0].value
    assert "--corpus demo-treebank" in session.code[0].value
    assert not charts(session)


def test_words_without_trees_are_no_treebank_either(section, without):
    session = section("sentences", without("dependency_accuracy"))
    assert "has no dependency trees" in session.info[0].value
    assert "--corpus demo-treebank" in session.code[0].value


def listed(session, n: int):
    """The table of so many published numbers."""
    return next(frame for frame in frames(session) if "published" in frame and len(frame) == n)


def test_table_1_is_beside_the_best_heads_of_this_file(section, answers):
    session = section("relations")
    table = listed(session, 2 * 15)
    assert table["published"].iloc[0] == "34.5%"
    assert table["published"].tolist()[1::2] == [
        f"{number.printed}%" for number in numbers("dependency_baseline", place=("own_table", 1))
    ]
    best = dict(
        answers(
            "select relation, (accuracy, offset_accuracy) from dependency_best "
            "where merging = 'mean' and chosen_on = 'all'"
        )
    )
    shown = dict(zip(table["of"], table["ours"], strict=True))
    heads = {label: value for label, value in shown.items() if isinstance(value, str)}
    written = {f"{100 * share:.2f}%" for pair in best.values() for share in pair}
    assert set(heads.values()) <= written
    assert any(label.startswith("dobj (UD obj)") for label in heads)
    assert not any(label.startswith(("prep", "pobj")) for label in heads)


def test_table_3_is_beside_the_means_of_this_file(section, answers):
    table = listed(section("parsers"), 6).set_index("of")
    ((mean,),) = answers("select avg(uas) from parser_accuracy where method = 'attention'")
    assert table.loc["attention", "published"] == "61%"
    assert table.loc["attention", "ours"] == f"{100 * mean:.1f}%"
    assert table["ours"].isna().sum() == 2, "the paper has two parsers that this file has not"


RANDOM = "update stored.provenance set value = '0' where name = 'random_weights'"
TREEBANK = (
    "update stored.run set model = 'bert-base-uncased', n_layers = 12, n_heads = 12, "
    "hidden_size = 768, n_sequences = 1696, n_tokens = 40000, mask_rate = 0"
)


def test_the_papers_untrained_row_is_beside_an_untrained_model_alone(section, changed, answers):
    def parts(*statements: str):
        session = section("parsers", changed(*statements))
        tables = [frame for frame in frames(session) if "published" in frame]
        return tables, [fold.label for fold in session.expander if "Published" in fold.label]

    (row, table), folded = parts(TREEBANK, RANDOM)
    ((mean,),) = answers("select avg(uas) from parser_accuracy where method = 'attention_words'")
    assert row[["published", "ours"]].to_numpy().tolist() == [["30%", f"{100 * mean:.1f}%"]]
    assert "difference" in row
    assert "difference" not in table
    assert folded == ["Published: parsers on BERT-base – in bert-base-uncased with trained weights"]
    (table,), folded = parts(TREEBANK)
    assert "difference" in table
    assert not folded
