"""Files of frequencies and of static vectors: lines that are read, passed over or refused."""

import hashlib
from pathlib import Path

import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora.word_files import read_frequencies, read_word_vectors
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.precompute.corpora.reading import written
from tests.refusals import refused
from tests.small_store import request

FORM = "Give a file of lines `word number number …`, as GloVe has them."


def test_words_are_found_as_written_and_in_small_letters(tmp_path):
    text = "the 1 2\nThe 3 4\ncat -1e-2 .5\ndog 0 0\nthe 9 9\n. . 7 8\n"
    found = read_word_vectors(
        Path(written(tmp_path, text, "vectors.txt")), ["The", "CAT", "mat", ". ."]
    )
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
    counted = Path(written(tmp_path, "2 3\ncat 1 2 3\ndog 4 5 6\n"))
    assert list(read_word_vectors(counted, ["cat", "2"]).vectors) == ["cat"]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (None, "", "cannot be read (No such file or directory)."),
        ("cat 1 2\ndog 1\n", " line 2", "has no word with 2 numbers."),
        ("cat\n", " line 1", "has no word with 1 numbers."),
        ("dog 1 2\ncat 1 x\n", " line 2", "holds what is no number."),
        ("cat 1 nan\n", " line 1", "holds a number that is not finite."),
        ("dog 1 2\n", "", "has no word of the corpus."),
        ("", "", "has no word of the corpus."),
    ],
)
def test_a_file_that_is_of_no_use_is_told_with_its_line(tmp_path, text, place, reason):
    path = tmp_path / "none" if text is None else Path(written(tmp_path, text))
    assert refused(BadCorpus, read_word_vectors, path, ["cat"]) == f"{path}{place}: {reason} {FORM}"


def test_word_vectors_without_annotated_words_are_refused(tmp_path):
    asked = request(tmp_path, word_vectors=Path(written(tmp_path, "cat 1 2\n", "vectors.txt")))
    assert refused(UserError, run, asked, run_local) == (
        "--word-vectors is for corpora whose words are annotated, and text.txt is plain text. "
        "Leave it out, or give a CoNLL-U file as --corpus."
    )
    assert not asked.output.exists()


RANGE = (
    "{} is out of range; the vocabulary has 5 entries. Give the frequencies of this model's own "
    "vocabulary."
)
OF_RANKS = "Give a file of lines `rank count id`."
FREQUENCIES: dict[str | None, list[int] | str] = {
    "1 90 3\n2 50 0\n2 50 4\n": [2, 3, 3, 1, 2],  # those that it lacks come after its last
    "1 9 0\nthe 9 1\n": " line 2: b'the 9 1' is not of the form `rank count id` in whole numbers.",
    f"1 9 0\n{10**40} 9 1\n": f" line 2: {RANGE.format(f'rank {10**40} or id 1')}",
    "1 9 7\n": f" line 1: {RANGE.format('rank 1 or id 7')}",
    "": f": holds no frequencies. {OF_RANKS}",
    None: f": cannot be read (No such file or directory). {OF_RANKS}",
}


@pytest.mark.parametrize("text", FREQUENCIES)
def test_frequencies_are_read_or_refused_with_the_line(tmp_path, text):
    path, expected = tmp_path / "f", FREQUENCIES[text]
    if text is not None:
        written(tmp_path, text)
    if isinstance(expected, list):
        assert read_frequencies(path, vocabulary=5).ranks.tolist() == expected
    else:
        message = refused(BadCorpus, read_frequencies, path, vocabulary=5)
        assert message == f"{path}{expected}"
