"""A file without trees or without a statistic says so, with the command that helps."""

import pytest

from tests.pages.conftest import charts


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
