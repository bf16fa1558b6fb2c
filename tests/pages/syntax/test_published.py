"""The paper's tables beside the file's values, folded away from another model."""

from analysis.published.heads import numbers
from tests.pages.conftest import frames


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
