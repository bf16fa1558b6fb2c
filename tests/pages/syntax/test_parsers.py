"""Parsers made of attention: numbers are those of the file, verdicts need all seeds."""

from dataclasses import replace
from shutil import copyfile

import pandas as pd
import pytest

from analysis.statistics.probing import parser_accuracy
from analysis.statistics.probing.parser_accuracy import METHODS
from analysis.statistics.probing.parser_input import INPUT_EMBEDDING
from pages.syntax.parsers import _alike, _finding, _named, _spread
from pages.ui.store.open_file import described, version_of
from pages.ui.words.numbers import percent
from pages.ui.words.scope import words_of
from tests.pages.conftest import captions, charts, sentences
from tests.pages.kit.figures import chart_of
from tests.pages.kit.inquiries import inquiry, view_of


def planted(**shares: float) -> tuple[str, ...]:
    """Statements that give every seed of a method its share, a little more with each seed."""
    return tuple(
        f"update stored.parser_accuracy set uas = {share} + 0.01 * (seed - 2) "
        f"where method = '{method}'"
        for method, share in shares.items()
    )


def finding(trained: pd.DataFrame) -> str:
    """The section's finding on these parsers."""
    view = view_of("sy", "parsers")
    with words_of("syntax", "parsers"):
        return _finding(view, _spread(_named(view, trained)).set_index("method"))


def test_what_the_parsers_find_is_told(after):
    shares = dict(zip(METHODS, (0.8, 0.6, 0.25, 0.2, 0.5, 0.3), strict=True))
    after(*planted(**shares))
    text = finding(inquiry().ask(parser_accuracy.accuracies))
    assert "**Attention alone finds 60% of the governors** (58% to 62% over 5 seeds)" in text
    assert f"and {percent(0.8)} when its weights may depend on the words" in text
    assert "next word finds 30%, distances and words without attention 50%" in text
    assert "attention finds 20%, with the words 25%" in text


@pytest.mark.parametrize(
    ("attention", "distances", "verdict"),
    [
        (0.6, 0.5, "With every seed attention alone is above"),
        (0.4, 0.5, "With every seed attention alone is below"),
        (0.52, 0.5, "neither is clearly better"),
    ],
)
def test_a_verdict_holds_with_every_seed_or_is_none(attention, distances, verdict, after):
    after(*planted(attention=attention, distances_words=distances))
    assert verdict in finding(inquiry().ask(parser_accuracy.accuracies))


def test_where_the_vectors_come_from_is_told(section, after):
    def captions_after(*statements: str) -> str:
        after(*statements)
        session = section("parsers")
        assert "untrained" not in sentences(session)
        return captions(session)

    known = f"update stored.parser_accuracy set vectors = '{INPUT_EMBEDDING}' where vectors <> ''"
    assert "own input embeddings" in captions_after(known)
    of_file = (
        "update stored.parser_accuracy set vectors = 'glove*.txt', known_share = 0.875 "
        "where vectors is not null"
    )
    assert r"vectors come from glove\*\.txt, which has 88% of the words" in captions_after(of_file)


RANDOM = (
    "update stored.provenance set value = '3' where name = 'random_weights'",
    *planted(attention=0.1, attention_words=0.35),
)


@pytest.fixture
def two_files(store_folder, changed):
    """File of a trained model, next to one of the same model untrained."""

    def both(*more: str):
        folder = changed(*RANDOM, *more)
        [made] = folder.glob("*.duckdb")
        made.rename(folder / "random.duckdb")
        copyfile(store_folder / "tiny.duckdb", folder / "tiny.duckdb")
        return folder

    return both


def test_untrained_attention_of_another_file_stands_beside_ours(
    section, two_files, exported, answers
):
    text = sentences(section("parsers", two_files(), file="tiny.duckdb")).replace("\\", "")
    assert (
        "The same architecture untrained (random.duckdb, weights of seed 3) finds 10% by "
        "attention alone, 35% with the words"
    ) in text
    bars = chart_of(exported, "sy_parsers_chart").layer[0].data.set_index("method")
    assert bars.loc["untrained_attention_words", "mean"] == pytest.approx(0.35)
    assert (
        bars.loc["untrained_attention_words", "method_named"]
        == "untrained attention, and words (random.duckdb)"
    )
    assert bars.loc["attention_words", "mean"] == pytest.approx(
        answers("select avg(uas) from parser_accuracy where method = 'attention_words'")[0][0]
    )
    assert len(bars) == len(METHODS) + 2


@pytest.mark.parametrize(
    ("run", "facts", "alike"),
    [
        ({}, {}, True),
        ({"corpus_sha256": "another"}, {}, False),
        ({"n_heads": 4}, {}, False),
        ({"n_sequences": 2}, {}, False),
        ({}, {"segments_given": "another"}, False),
    ],
)
def test_only_a_file_of_the_same_shape_and_corpus_is_taken(run, facts, alike, store_folder):
    ours = described(version_of(store_folder / "tiny.duckdb"))
    changed_run = pd.Series(ours.run.to_dict() | run)
    assert _alike(ours, replace(ours, run=changed_run, facts=ours.facts | facts)) is alike


def test_a_page_of_the_untrained_file_shows_it_alone(section, two_files, exported):
    session = section("parsers", two_files(), file="random.duckdb")
    assert len(chart_of(exported, "sy_parsers_chart").layer[0].data) == len(METHODS)
    assert "input embeddings, which are random here" in captions(session)


def test_too_few_trees_are_told_as_the_reason(section, changed):
    folder = changed(
        "delete from stored.parser_accuracy",
        "update stored.manifest set n_rows = 0 where name = 'parser_accuracy'",
    )
    session = section("parsers", folder)
    assert "has too few sentences with trees" in session.info[0].value
    assert not charts(session)
