from pathlib import Path

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.word_files import read_frequencies
from tests.refusals import refused


def _file(folder: Path, text: str) -> Path:
    path = folder / "ranks.txt"
    path.write_text(text)
    return path


def test_entries_that_the_file_lacks_come_after_its_last(tmp_path):
    frequencies = read_frequencies(_file(tmp_path, "1 90 3\n2 50 0\n2 50 4\n"), vocabulary=5)
    assert frequencies.ranks.tolist() == [2, 3, 3, 1, 2]


@pytest.mark.parametrize(
    ("text", "number", "reason"),
    [
        ("1 9 0\nthe 9 1\n", 2, "b'the 9 1' is not of the form `rank count id` in whole numbers."),
        (
            f"1 9 0\n{10**40} 9 1\n",
            2,
            f"rank {10**40} or id 1 is out of range; the vocabulary has 5 entries. "
            "Give the frequencies of this model's own vocabulary.",
        ),
        (
            "1 9 7\n",
            1,
            "rank 1 or id 7 is out of range; the vocabulary has 5 entries. "
            "Give the frequencies of this model's own vocabulary.",
        ),
    ],
)
def test_a_bad_line_is_told_with_its_number(tmp_path, text, number, reason):
    path = _file(tmp_path, text)
    message = refused(BadCorpus, read_frequencies, path, vocabulary=5)
    assert message == f"{path} line {number}: {reason}"


def test_a_missing_and_an_empty_file_are_told(tmp_path):
    missing, empty = tmp_path / "none.txt", _file(tmp_path, "")
    form = "Give a file of lines `rank count id`."
    for path, reason in (
        (missing, "cannot be read (No such file or directory)"),
        (empty, "holds no frequencies"),
    ):
        message = refused(BadCorpus, read_frequencies, path, vocabulary=5)
        assert message == f"{path}: {reason}. {form}"
