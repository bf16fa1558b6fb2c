"""Names in messages, and files of frequencies with the messages that refuse them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus
from precompute.corpora.word_files import read_frequencies
from precompute.corpora.wording import file_name, path_as_given, shown
from tests.precompute.corpora.reading import written
from tests.precompute.corpora.tiny import unhurried
from tests.refusals import refused


@unhurried()
@given(st.text(st.characters()))
def test_any_text_is_shown_on_one_short_line(text):
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60 * len(r"\U0010ffff") + 2


def test_values_are_shown_as_python_writes_them_and_cut_and_names_of_files_whole():
    assert shown("<b>") == "'<b>'"
    assert shown("a\x1b[31m\n") == r"'a\x1b[31m\n'"
    assert shown("x" * 60) == f"'{'x' * 60}'"
    assert shown("x" * 61) == f"'{'x' * 59}…'"
    assert shown(10**5000) == "a huge int"
    assert shown([[[[1]]]]) == "[[[...]]]"
    assert file_name(Path("a/文 1.txt")) == "文 1.txt"
    assert file_name(Path("a/b\n\x1b.txt")) == r"'b\n\x1b.txt'"
    assert path_as_given(Path("a/b\u202e.txt")) == r"'a/b\u202e.txt'"


RANGE = (
    "{} is out of range; the vocabulary has 5 entries. Give the frequencies of this model's own "
    "vocabulary."
)
FORM = "Give a file of lines `rank count id`."
FREQUENCIES: dict[str | None, list[int] | str] = {
    "1 90 3\n2 50 0\n2 50 4\n": [2, 3, 3, 1, 2],  # those that it lacks come after its last
    "1 9 0\nthe 9 1\n": " line 2: b'the 9 1' is not of the form `rank count id` in whole numbers.",
    f"1 9 0\n{10**40} 9 1\n": f" line 2: {RANGE.format(f'rank {10**40} or id 1')}",
    "1 9 7\n": f" line 1: {RANGE.format('rank 1 or id 7')}",
    "": f": holds no frequencies. {FORM}",
    None: f": cannot be read (No such file or directory). {FORM}",
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
