"""Static vectors from a file: accepted, skipped and refused lines."""

import hashlib
from pathlib import Path

import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora.word_files import read_word_vectors
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.refusals import refused
from tests.small_store import request

FORM = "Give a file of lines `word number number …`, as GloVe has them."


def _file(folder: Path, text: str) -> Path:
    path = folder / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_are_found_as_written_and_in_small_letters(tmp_path):
    text = "the 1 2\nThe 3 4\ncat -1e-2 .5\ndog 0 0\nthe 9 9\n. . 7 8\n"
    found = read_word_vectors(_file(tmp_path, text), ["The", "CAT", "mat", ". ."])
    assert {word: vector.tolist() for word, vector in found.vectors.items()} == {
        "the": [1, 2],
        "The": [3, 4],
        "cat": [pytest.approx(-0.01), 0.5],
        ". .": [7, 8],
    }
    assert found.of("mat") is None
    assert found.of("The") is found.vectors["The"]
    assert found.of("CAT") is found.vectors["cat"]
    assert found.name == "vectors.txt"
    assert found.sha256 == hashlib.sha256(text.encode()).hexdigest()
    counted = _file(tmp_path, "2 3\ncat 1 2 3\ndog 4 5 6\n")
    assert list(read_word_vectors(counted, ["cat", "2"]).vectors) == ["cat"]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("cat 1 2\ndog 1\n", " line 2", "has no word with 2 numbers."),
        ("cat\n", " line 1", "has no word with 1 numbers."),
        ("dog 1 2\ncat 1 x\n", " line 2", "holds what is no number."),
        ("cat 1 nan\n", " line 1", "holds a number that is not finite."),
        ("dog 1 2\n", "", "has no word of the corpus."),
        ("", "", "has no word of the corpus."),
    ],
)
def test_a_file_that_is_of_no_use_is_told_with_its_line(tmp_path, text, place, reason):
    path = _file(tmp_path, text)
    assert refused(BadCorpus, read_word_vectors, path, ["cat"]) == f"{path}{place}: {reason} {FORM}"


def test_a_missing_file_and_one_where_no_word_is_annotated_are_told(tmp_path):
    assert refused(BadCorpus, read_word_vectors, tmp_path / "none.txt", ["cat"]) == (
        f"{tmp_path / 'none.txt'}: cannot be read (No such file or directory). {FORM}"
    )
    asked = request(tmp_path, word_vectors=_file(tmp_path, "cat 1 2\n"))
    assert refused(UserError, run, asked, run_local) == (
        "--word-vectors is for corpora whose words are annotated, and text.txt is plain text. "
        "Leave it out, or give a CoNLL-U file as --corpus."
    )
    assert not asked.output.exists()
