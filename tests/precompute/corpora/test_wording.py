from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from precompute.corpora.wording import file_name, path_as_given, shown
from tests.precompute.corpora.tiny import unhurried


@unhurried()
@given(st.text(st.characters()))
def test_any_text_is_shown_on_one_short_line(text):
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60 * len(r"\U0010ffff") + 2


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("<b>", "'<b>'"),
        ("a\x1b[31m\n", r"'a\x1b[31m\n'"),
        ("x" * 60, f"'{'x' * 60}'"),
        ("x" * 61, f"'{'x' * 59}…'"),
        (10**5000, "a huge int"),
        ([[[[1]]]], "[[[...]]]"),
    ],
    ids=lambda argument: argument if isinstance(argument, str) else type(argument).__name__,
)
def test_value_is_shown_as_python_writes_it_and_cut(value, words):
    assert shown(value) == words


def test_names_of_files_are_whole_and_escaped_only_where_they_must():
    assert file_name(Path("a/文 1.txt")) == "文 1.txt"
    assert file_name(Path("a/b\n\x1b.txt")) == r"'b\n\x1b.txt'"
    assert path_as_given(Path("a/b\u202e.txt")) == r"'a/b\u202e.txt'"
