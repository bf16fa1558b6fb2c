"""Names in messages, and files of frequencies with the messages that refuse them."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from precompute.corpora.wording import file_name, path_as_given, shown
from tests.precompute.corpora.tiny import unhurried


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
