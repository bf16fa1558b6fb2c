"""A statistic that a corpus has nothing for is refused when it is asked for by name."""

from pathlib import Path

import duckdb
import pytest

from analysis.errors import UserError
from precompute.corpora.sequence import Corpus
from precompute.corpus_needs import TEXT, check_needs, need_of
from precompute.passes import PASSES
from tests.shared_store import shared_store
from tests.small_store import build_store, request
from tests.tiny import ANNOTATED, tiny_sequences

NAMES = {each.TABLE.name for each in PASSES}


def corpus(entries) -> Corpus:
    return Corpus("a.txt", "", tiny_sequences("bert", entries))


def test_plain_text_is_refused_before_anything_is_computed(tmp_path):
    asked = request(tmp_path, statistics=["dependency_accuracy"])
    with pytest.raises(UserError) as caught:
        build_store(tmp_path, statistics=["dependency_accuracy"])
    assert str(caught.value) == (
        "--statistics dependency_accuracy needs trees, and text.txt has none: give a CoNLL-U "
        "treebank as --corpus, such as demo-treebank, or leave dependency_accuracy out."
    )
    assert not asked.output.exists()


@pytest.mark.parametrize("name", ["dependency_best", "word_vector"])
def test_trees_are_enough_for_those_that_need_them(name):
    check_needs([name], corpus(ANNOTATED[:1]))


def test_coreference_is_asked_for_too():
    with pytest.raises(UserError, match=r"coreference_accuracy needs coreference, and a\.txt has"):
        check_needs(["coreference_accuracy"], corpus(ANNOTATED[:1]))
    check_needs(["coreference_accuracy"], corpus(ANNOTATED))


def test_what_plain_text_leaves_empty_is_what_is_asked_for(tmp_path_factory):
    """And trees with coreference fill all of it."""
    text = rows(shared_store(tmp_path_factory))
    words = rows(shared_store(tmp_path_factory, annotated=True))
    assert words - text == {name for name in NAMES if need_of(name) not in (None, TEXT)}


def rows(path: Path) -> set[str]:
    """The statistics of a file that have some."""
    with duckdb.connect(str(path), read_only=True) as store:
        found = store.execute("select name from manifest where n_rows > 0").fetchall()
    return NAMES & {name for (name,) in found}
