import json
import os
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus, UserError
from precompute.corpora.left_out import is_blank
from precompute.corpora.sequence import Entry
from precompute.corpora.texts.rows import EXPECTED, TEXT, entry_of, jsonl_rows, write_jsonl
from tests.precompute.corpora.tiny import unhurried
from tests.refusals import refused

NOT_JSON = "; a file that starts with { is read as JSON Lines, one whole object per line"

texts = st.text(min_size=1).filter(lambda text: not is_blank(text))
tokens = st.lists(st.text(min_size=1), min_size=1).map(tuple)
fields: st.SearchStrategy[dict[str, Any]] = st.one_of(
    texts.map(lambda text: {"texts": (text,)}),
    st.tuples(texts, texts).map(lambda pair: {"texts": pair}),
    tokens.map(lambda drawn: {"tokens": drawn}),
    tokens.map(lambda drawn: {"tokens": drawn, "segments": tuple(len(of) % 3 for of in drawn)}),
)


def read_file(path):
    return [entry_of(value, place) for place, value in jsonl_rows(path, TEXT)]


def read(tmp_path, content):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_file(path)


@unhurried(50)
@given(drawn=st.lists(fields))
def test_what_was_written_is_read_again(tmp_path_factory, drawn):
    written = [Entry("", **values) for values in drawn]
    path = tmp_path_factory.mktemp("round") / "corpus.jsonl"
    assert write_jsonl(written, path) == len(written)
    assert [replace(entry, place="") for entry in read_file(path)] == written


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ('{"text": " a "}', Entry("corpus.jsonl line 1", (" a ",))),
        ('{"text_a": "a", "text_b": "b"}', Entry("corpus.jsonl line 1", ("a", "b"))),
        ('{"tokens": ["a", "b"]}', Entry("corpus.jsonl line 1", tokens=("a", "b"))),
        (
            '{"tokens": ["a"], "segments": [1]}',
            Entry("corpus.jsonl line 1", tokens=("a",), segments=(1,)),
        ),
        ('{"title": {"x": [null]}, "text": "a"}', Entry("corpus.jsonl line 1", ("a",))),
        ('{"text": "\\ud83d\\ude00"}', Entry("corpus.jsonl line 1", ("😀",))),
        ('{"text": "a\u2028b"}', Entry("corpus.jsonl line 1", ("a\u2028b",))),
    ],
)
def test_each_form_is_read(tmp_path, line, entry):
    assert read(tmp_path, line) == [entry]


def test_blank_lines_count_and_say_nothing(tmp_path):
    places = [entry.place for entry in read(tmp_path, '\n{"text": "a"}\r\n \t\n{"text": "b"}')]
    assert places == ["corpus.jsonl line 2", "corpus.jsonl line 4"]


BROKEN = {
    '{"text": 5}': "`text` is 5; it must be a string",
    '{"text": null}': "`text` is null; it must hold some text",
    '{"text": ""}': "`text` is ''; it must hold some text",
    '{"text": "\\u00a0\\n"}': r"`text` is '\xa0\n'; it must hold some text",
    '{"text": "a\\ud800"}': r"`text` holds '\ud800', half of a UTF-16 pair and no character by "
    "itself; write the text anew as UTF-8",
    '{"text_a": "a", "text_b": " "}': "`text_b` is ' '; it must hold some text",
    '{"text_a": ["a"], "text_b": "b"}': "`text_a` is ['a']; it must be a string",
    '{"text_a": "a"}': f"holds `text_a`; {EXPECTED}",
    '{"text": "a", "tokens": ["a"]}': f"holds `text` and `tokens`; {EXPECTED}",
    '{"text": "a", "segments": [0]}': f"holds `segments` and `text`; {EXPECTED}",
    '{"Text": "a"}': f"holds no entry; {EXPECTED}",
    '{"text": "a", "text": "b"}': f"is not JSON (the key 'text' stands twice in one object)"
    f"{NOT_JSON}",
    '{"tokens": "ab"}': "`tokens` is 'ab'; it must be a list of strings",
    '{"tokens": []}': "`tokens` is empty; it must hold at least one token",
    '{"tokens": ["a", ""]}': "token 2 is ''; each token must be a string, not empty",
    '{"tokens": ["a", 7]}': "token 2 is 7; each token must be a string, not empty",
    '{"tokens": ["\\udc80"]}': r"`token 1` holds '\udc80', half of a UTF-16 pair and no character "
    "by itself; write the text anew as UTF-8",
    '{"tokens": ["a"], "segments": null}': "`segments` is None; it must be a list of integers",
    '{"tokens": ["a"], "segments": [0, 1]}': "1 token(s) but 2 segment id(s); give one for each "
    "token",
    '{"tokens": ["a"], "segments": [-1]}': "segment id 1 is -1; it must be an integer from 0 on",
    '{"tokens": ["a"], "segments": [true]}': "segment id 1 is True; it must be an integer from 0 "
    "on",
    '{"tokens": ["a"], "segments": [1.0]}': "segment id 1 is 1.0; it must be an integer from 0 on",
    '{"text": "a"': f"is not JSON (Expecting ',' delimiter at character 13){NOT_JSON}",
    '{"text": "a"} {"text": "b"}': f"is not JSON (Extra data at character 15){NOT_JSON}",
    '{"text": "a", "x": NaN}': f"is not JSON (NaN is no JSON value){NOT_JSON}",
    '{"text": "a", "x": -Infinity}': f"is not JSON (-Infinity is no JSON value){NOT_JSON}",
    '{"x": ' + "[" * 100_000: "is nested too deeply to be read; use flat objects",
    '{"text": ' + "7" * 4000 + "}": "`text` is 77777777...777777777; it must be a string",
    '{"text": '
    + "7" * 5000
    + "}": "is not JSON (Exceeds the limit (4300 digits) for integer string "
    "conversion: value has 5000 digits; use sys.set_int_max_str_digits() to increase the limit)"
    f"{NOT_JSON}",
    '{"text": "' + " " * 4000 + '"}': f"`text` is '{' ' * 59}…'; it must hold some text",
}


@pytest.mark.parametrize("line", BROKEN, ids=lambda line: line[:40])
def test_broken_line_is_named_with_what_is_wrong_in_it(tmp_path, line):
    message = refused(BadCorpus, read, tmp_path, f'{{"text": "fine"}}\n{line}\n')
    assert message == f"corpus.jsonl line 2: {BROKEN[line]}"


@unhurried(50)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.text() | st.floats() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_stands_for_a_text_the_message_is_one_short_line(tmp_path_factory, value):
    line = json.dumps({"text_a": value, "text_b": value, "tokens": value})
    with pytest.raises(BadCorpus) as caught:
        read(tmp_path_factory.mktemp("hostile"), line)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_failed_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    def entries_that_fail():
        yield Entry("", ("new",))
        raise BadCorpus("source line 2", "broken")

    path = tmp_path / "corpus.jsonl"
    path.write_text("old")
    with pytest.raises(BadCorpus):
        write_jsonl(entries_that_fail(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["corpus.jsonl"]


def test_while_it_is_written_the_file_bears_an_unfinished_name(tmp_path):
    def watched():
        yield Entry("", ("漢字",))
        assert os.listdir(tmp_path) == ["corpus.jsonl.unfinished"]

    write_jsonl(watched(), tmp_path / "corpus.jsonl")
    assert os.listdir(tmp_path) == ["corpus.jsonl"]
    assert (tmp_path / "corpus.jsonl").read_text("utf-8") == '{"text": "漢字"}\n'


def test_unwritable_file_says_what_to_do(tmp_path):
    path = tmp_path / "none" / "corpus.jsonl"
    assert refused(UserError, write_jsonl, [], path) == (
        f"{path} cannot be written (No such file or directory); name a file in a folder that "
        "exists, may be written to and has room."
    )
