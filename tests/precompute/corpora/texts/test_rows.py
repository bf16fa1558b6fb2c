"""Rows of JSON, tables, Parquet and Arrow: each is read, or left out or refused with the reason."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus, UserError
from precompute.corpora import left_out
from precompute.corpora.left_out import is_blank
from precompute.corpora.load import entries
from precompute.corpora.sequence import Entry
from precompute.corpora.texts.rows import EXPECTED, write_jsonl
from tests.precompute.corpora.reading import (
    Bad,
    Blank,
    Rows,
    arrow,
    assert_outcome,
    outcome,
    parquet,
    written,
)
from tests.precompute.corpora.tiny import BUILT, load, unhurried
from tests.refusals import refused

READ: dict[str | bytes, Rows] = {
    '{"text": " a "}': {1: " a "},
    '{"text_a": "a", "text_b": "b"}': {1: ("a", "b")},
    '{"tokens": ["a", "b"]}': {1: ["a", "b"]},
    '{"tokens": ["a"], "segments": [1]}': {1: Entry("f line 1", tokens=("a",), segments=(1,))},
    '{"text": "a\u2028b"}': {1: "a\u2028b"},
    '\n{"text": "a"}\r\n \t\n{"text": "b"}': {2: "a", 4: "b"},
    '\ufeff{"text": "a"}': {1: "a"},
    '["he ran", "she ran"]': {"item 1": "he ran", "item 2": "she ran"},
    '"he ran"\n"she \\u0041"\n': {1: "he ran", 2: "she A"},
    '["he", "ran"]\n["she"]\n': {1: ["he", "ran"], 2: ["she"]},
    '[{"text": "he"}, {"text_a": "a", "text_b": "b"}]': {"item 1": "he", "item 2": ("a", "b")},
    'id,text\n1,"the old, man"\n2,"she said ""no""\nand ran"\n3,x\n': {
        2: "the old, man",
        3: 'she said "no"\nand ran',
        5: "x",
    },
    "\ufeffid;text\r\n1;he ran\r\n2;she, too\r\n": {2: "he ran", 3: "she, too"},
    'text\n"he, too, ran"\nshe ran\n': {2: "he, too, ran", 3: "she ran"},
    'text\tlabel\n"Hello," he said\t1\n"she ran\t0\n': {2: '"Hello," he said', 3: '"she ran'},
    "text_a,text_b\nhe ran,she ran\n": {2: ("he ran", "she ran")},
    "nr|text\n1|he ran\n2|she, too\n": {2: "he ran", 3: "she, too"},
    f'id,text\n1,"{"word " * 40_000}"\n': {2: "word " * 40_000},
    "id,text\n1,he, too\n2,she\n": {
        2: Bad("has 3 cells, and the first line 2; quote the text"),
        3: "she",
    },
    "id,text\n1,\n2,she\n": {2: Blank("`text` is ''; it must hold some text"), 3: "she"},
    '["she ran .", "he"]\n["she"]\n': {
        1: Bad("is a list of texts, not of tokens; write a text to a line"),
        2: ["she"],
    },
    parquet(text=["", "the", "\n", None, "cat", " "]): {
        "row 1": Blank("`text` is ''; it must hold some text"),
        "row 2": "the",
        "row 3": Blank("`text` is '\\n'; it must hold some text"),
        "row 4": Blank("`text` is null; it must hold some text"),
        "row 5": "cat",
        "row 6": Blank("`text` is ' '; it must hold some text"),
    },
    arrow(id=[1, 2], text=["The cat.", "A mat."]): {"row 1": "The cat.", "row 2": "A mat."},
    '{"text": "\u3042\u200b"}\n{"text": "."}\n{"text": "\u0301"}': {
        1: "\u3042\u200b",
        2: ".",
        3: "\u0301",
    },
    '{"tokens": ["[PAD]", "[CLS]", "the", "[PAD]", "[PAD]"], "segments": [0, 0, 1, 1, 0]}': {
        1: Entry("f line 1", tokens=("[CLS]", "the"), segments=(0, 1))
    },
    '["[MASK]", "[MASK]", "the", "[UNK]", "[UNK]"]\n["[PAD]", "a"]': {
        1: ["[MASK]", "[MASK]", "the", "[UNK]", "[UNK]"],
        2: ["a"],
    },
    "\ufeff\n = Title = \n \n one \n two \n": {2: "= Title =", "lines 4-5": ("one", "two")},
    "a\r\nb\r\n\r\nc": {"lines 1-2": ("a", "b"), 4: "c"},
    "a\u2028b\x0bc\x85d": {1: "a\u2028b\x0bc\x85d"},
    **{
        f"the cat\n{blank}\nthe dog\nthe mat\nb": {
            1: "the cat",
            "lines 3-4": ("the dog", "the mat"),
            5: "b",
        }
        for blank in ("", "\u200b", "\ufeff \u00ad", "\x07")
    },
}
HALF = "half of a UTF-16 pair and no character by itself; write the text anew as UTF-8"
NOT_JSON = "; a file that starts with { is read as JSON Lines, one whole object per line"
LEFT_OUT = {
    '{"text": 5}': Bad("`text` is 5; it must be a string"),
    '{"text": null}': Blank("`text` is null; it must hold some text"),
    '{"text": ""}': Blank("`text` is ''; it must hold some text"),
    '{"text": "\\u00a0\\n"}': Blank(r"`text` is '\xa0\n'; it must hold some text"),
    '{"text": "\\u200b\\ufeff\\u0000"}': Blank(
        r"`text` is '\u200b\ufeff\x00'; it must hold some text"
    ),
    '{"text": "a\\ud800"}': Bad(rf"`text` holds '\ud800', {HALF}"),
    '{"text_a": "a", "text_b": " "}': Blank("`text_b` is ' '; it must hold some text"),
    '{"text_a": "a"}': Bad(f"holds `text_a`; {EXPECTED}"),
    '{"text": "a", "tokens": ["a"]}': Bad(f"holds `text` and `tokens`; {EXPECTED}"),
    '{"Text": "a"}': Bad(f"holds no entry; {EXPECTED}"),
    "7": Bad(f"is 7 and no object; {EXPECTED}"),
    "[7]": Bad("token 1 is 7; each token must be a string, not empty"),
    "[]": Blank("`tokens` is empty; it must hold at least one token"),
    '{"text": "a", "text": "b"}': Bad(
        f"is not JSON (the key 'text' stands twice in one object){NOT_JSON}"
    ),
    '{"tokens": "ab"}': Bad("`tokens` is 'ab'; it must be a list of strings"),
    '{"tokens": []}': Blank("`tokens` is empty; it must hold at least one token"),
    '{"tokens": ["a", ""]}': Bad("token 2 is ''; each token must be a string, not empty"),
    '{"tokens": ["a"], "segments": [0, 1]}': Bad(
        "1 token(s) but 2 segment id(s); give one for each token"
    ),
    '{"tokens": ["a"], "segments": [-1]}': Bad(
        "segment id 1 is -1; it must be an integer from 0 on"
    ),
    '{"tokens": ["a"], "segments": [true]}': Bad(
        "segment id 1 is True; it must be an integer from 0 on"
    ),
    '{"tokens": ["[PAD]", "[PAD]"]}': Blank("holds nothing but padding, '[PAD]'"),
    '{"tokens": ["[PAD]", "the", "[PAD]", "cat", "[PAD]"]}': Bad(
        "token 3 is '[PAD]', padding between tokens, which the model would read; leave it out"
    ),
    '{"tokens": ["[CLS]", "the", "[SEP]", "[SEP]"]}': Bad(
        "begins or ends with '[SEP]' several times, as padded batches do; leave the padding out"
    ),
    '{"tokens": ["[CLS]", "[CLS]", "the"]}': Bad(
        "begins or ends with '[CLS]' several times, as padded batches do; leave the padding out"
    ),
    '{"text": "a"': Bad(f"is not JSON (Expecting ',' delimiter at character 13){NOT_JSON}"),
    '{"text": "a"} {"text": "b"}': Bad(f"is not JSON (Extra data at character 15){NOT_JSON}"),
    '{"text": "a", "x": NaN}': Bad(f"is not JSON (NaN is no JSON value){NOT_JSON}"),
    '{"x": ' + "[" * 100_000: Bad("is nested too deeply to be read; use flat objects"),
    '{"text": ' + "7" * 5000 + "}": Bad(
        "is not JSON (Exceeds the limit (4300 digits) for integer string conversion: value has "
        f"5000 digits; use sys.set_int_max_str_digits() to increase the limit){NOT_JSON}"
    ),
}
HEADLESS = (
    "; name the one of the texts with --column, or put the names of the columns into the first line"
)
REFUSED: dict[str | bytes, str] = {
    "ham\tGo now\nspam\tFree, now\n": f"f: has no column `text` (its first line: 'ham', 'Go now')"
    f"{HEADLESS}",
    'id,text\n1,"he said "no" twice"\n': "f line 2: is no row of a table (',' expected after "
    "'\"'); double the quotes within a quoted text",
    'id,text\n1,"he ran\n': "f line 2: is no row of a table (unexpected end of data); double the "
    "quotes within a quoted text",
    '["he ran", "she"': "f: is no whole JSON list (Expecting ',' delimiter: line 1 column 17 (char "
    "16)); make it again",
    parquet(text=[1, 2]): "f: column `text` is of type int64; it must hold strings",
    parquet(
        id=[1], body=["a"]
    ): "f: has no column `text` (its columns: 'id', 'body'); name the one "
    "of the texts with --column",
    '{"text": 5}\n{"text": ""}': "f line 1: `text` is 5; it must be a string",
    '{"text": ""}\n[]': "f: holds no sequence; give a file that holds some text",
    b'{"text": "a"}\n' * 200 + b'{"text": "caf\xe9"}': "f line 201: byte 14 (0xe9) is not UTF-8; "
    "save the file as UTF-8",
    "fine\n\ncafé".encode("latin1"): "f line 3: byte 4 (0xe9) is not UTF-8; save the file as UTF-8",
    b"short\n" + b"x" * 17 * 2**20: "f line 2: goes on for more than 16 MiB; write a text of a few "
    "pages to a line",
    "\n \n": "f: holds no sequence; give a file that holds some text",
}
GOOD = '{"text": "fine"}'
CASES = READ | REFUSED | {f"{GOOD}\n{row}\n": {1: "fine", 2: why} for row, why in LEFT_OUT.items()}


@pytest.mark.parametrize("content", CASES, ids=lambda content: str(content)[:60])
def test_a_file_is_read_row_by_row_or_refused_with_the_reason(tmp_path, content):
    path = written(tmp_path, content)
    assert_outcome(CASES[content], path, tokenizer=BUILT["bert"])


ROWS = [
    {"title": "One", "body": "The cat sat.", "text": "Not this."},
    {"title": "Two", "body": "The dog ran.", "text_a": "Nor this.", "tokens": ["x"]},
]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
BODIES = [row["body"] for row in ROWS]
ONLY_TABLES = (
    "--column names the column of the texts in JSON, CSV, TSV, Parquet or Arrow, and f is "
)
OF_COLUMNS: dict[str, tuple[str | bytes, Rows | str]] = {
    "of JSON Lines": (LINES, {1: BODIES[0], 2: BODIES[1]}),
    "of CSV": ("body,text\nhe ran,not this\n", {2: "he ran"}),
    "of Parquet": (parquet(body=BODIES, text=["x", "y"]), {"row 1": BODIES[0], "row 2": BODIES[1]}),
    "of JSON Lines that is not there": (
        LINES.replace("body", "content"),
        "f line 1: has no key `body` (its keys: 'title', 'content', 'text'); name the one of the "
        "texts with --column. It is the first of 2 malformed rows among 2; more than 1 in 100 are "
        "too many to be left out.",
    ),
    "without a text in it": (
        '{"body": 3}\n{"body": "a"}\n{"body": null}',
        {
            1: Bad("`body` is 3; it must be a string"),
            2: "a",
            3: Blank("`body` is null; it must hold some text"),
        },
    ),
    "of what has no keys": ('["a b"]', "f item 1: is 'a b' and has no keys; leave --column out"),
    "of plain text": ("The cat sat.\n", f"{ONLY_TABLES}plain text. Leave --column out."),
}


@pytest.mark.parametrize("case", OF_COLUMNS)
def test_a_column_that_is_named_is_read_and_no_other(tmp_path, case):
    content, expected = OF_COLUMNS[case]
    assert_outcome(expected, written(tmp_path, content), column="body")


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.string(), pa.large_string(), pa.string_view()),
        *(pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int16(), pa.large_string())),
    ],
)
def test_strings_of_parquet_may_be_of_any_kind(tmp_path, kind):
    texts = [f"Text number {number}." for number in range(700)]
    path = written(tmp_path, parquet(text=pa.array(texts).cast(kind)))
    assert_outcome({f"row {row}": text for row, text in enumerate(texts, start=1)}, path)


@pytest.mark.parametrize(("form", "write"), [("Parquet", parquet), ("Arrow", arrow)])
def test_a_damaged_file_is_refused(tmp_path, form, write):
    content = write(text=[f"Text number {number}." for number in range(700)])
    for damaged in (content[: len(content) // 2], content[:-40]):
        message = str(outcome(written(tmp_path, damaged)))
        assert message.startswith(f"f: is a damaged {form} file (")
        assert message.endswith("); make it again")


def test_a_column_that_unfolds_into_what_no_text_does_is_refused(tmp_path):
    table = pa.table({"text": [f"{n}" + "cat " * 2**20 for n in range(20)]})
    pq.write_table(table, tmp_path / "f", compression="zstd", use_dictionary=False)
    assert outcome(str(tmp_path / "f")) == (
        "f: column `text` unfolds into more than 200 times its size, as no text does; unpack it "
        "first if you trust it"
    )


def test_a_relative_name_with_a_colon_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, parquet(text=["a"]), "wiki:en.parquet")
    assert outcome("wiki:en.parquet") == {"wiki:en.parquet row 1": "a"}


@pytest.mark.parametrize(
    ("family", "tokens", "expected"),
    [
        ("gpt2", ["th", "th", "<|end|>"], {1: ["th", "th", "<|end|>"]}),
        ("gpt2", ["th", "th", "<|end|>", "<|end|>"], "<|end|>"),
        ("llama", ["</s>", "</s>", "▁the"], "</s>"),
    ],
)
def test_ends_of_a_text_that_pad_are_refused(tmp_path, family, tokens, expected):
    refusal = (
        f"f line 1: begins or ends with {expected!r} several times, as padded batches do; leave "
        "the padding out"
    )
    path = written(tmp_path, json.dumps({"tokens": tokens}))
    assert_outcome(
        refusal if isinstance(expected, str) else expected, path, tokenizer=BUILT[family]
    )


BLANK, BAD = '{"text": ""}', '{"text": 5}'


def counts(folder, *rows: str, name: str = "f", **options: Any) -> tuple[int, int]:
    """Return the counts of blank and of malformed rows that a corpus tells."""
    counted = load(written(folder, "\n".join(rows), name), **options).counts
    return counted["blank_rows_left_out"], counted["malformed_rows_left_out"]


def test_any_number_of_rows_may_be_blank_and_one_in_a_hundred_malformed(tmp_path):
    for n_good, n_blank, n_bad in ((1, 40, 0), (1, 0, 1), (98, 0, 1), (198, 9, 2), (297, 0, 3)):
        rows = [GOOD] * n_good + [BLANK] * n_blank + [BAD] * n_bad
        assert counts(tmp_path, *rows) == (n_blank, n_bad)
    assert refused(UserError, counts, tmp_path, *[GOOD] * 197, BAD, BAD) == (
        "f line 198: `text` is 5; it must be a string. It is the first of 2 malformed rows among "
        "199; more than 1 in 100 are too many to be left out."
    )
    few = refused(UserError, counts, tmp_path, *[BAD] * 150, GOOD)
    assert "100 malformed rows among 100" in few, "the file is not read to its end"


def test_rows_are_counted_up_to_the_last_that_is_read_and_over_all_files(tmp_path):
    rows = [BLANK, GOOD, BAD, GOOD, BLANK, BAD, GOOD]
    assert counts(tmp_path, *rows, limit=1) == (1, 0)
    assert counts(tmp_path, *rows, limit=2) == (1, 1)
    one = written(tmp_path, "\n".join([GOOD, BLANK, *[GOOD] * 200]), "one")
    other = written(tmp_path, "\n".join([BAD, GOOD, BLANK]), "other")
    counted = load((one, other, other)).counts
    assert (counted["blank_rows_left_out"], counted["malformed_rows_left_out"]) == (3, 2)
    padded = load(written(tmp_path, '["[PAD]", "[CLS]", "the", "[PAD]"]\n["a"]')).counts
    assert padded["padding_tokens_left_out"] == 2


def test_what_is_left_out_is_printed_and_long_lists_are_cut_for_each_kind(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(left_out, "LINES", 2)
    counts(tmp_path, *[BLANK] * 5, BAD, GOOD)
    assert capsys.readouterr().out.splitlines() == [
        "Left out: f line 1: `text` is ''; it must hold some text.",
        "Left out: f line 2: `text` is ''; it must hold some text.",
        "Left out: f line 6: `text` is 5; it must be a string.",
        "Left out: 3 more.",
    ]


texts = st.text(min_size=1).filter(lambda text: not is_blank(text))
tokens = st.lists(st.text(min_size=1), min_size=1).map(tuple)
fields: st.SearchStrategy[dict[str, Any]] = st.one_of(
    texts.map(lambda text: {"texts": (text,)}),
    st.tuples(texts, texts).map(lambda pair: {"texts": pair}),
    tokens.map(lambda drawn: {"tokens": drawn}),
    tokens.map(lambda drawn: {"tokens": drawn, "segments": tuple(len(of) % 3 for of in drawn)}),
)


@unhurried(50)
@given(drawn=st.lists(fields, min_size=1))
def test_what_was_written_is_read_again(tmp_path_factory, drawn):
    entries_written = [Entry("", **values) for values in drawn]
    path = tmp_path_factory.mktemp("round") / "f"
    assert write_jsonl(entries_written, path) == len(drawn)
    assert [replace(entry, place="") for entry in entries(str(path))] == entries_written


def test_a_file_takes_its_name_when_it_is_whole_and_a_failure_leaves_the_old_one(tmp_path):
    def watched(fails: bool) -> Iterator[Entry]:
        yield Entry("", ("漢字",))
        assert sorted(os.listdir(tmp_path)) == ["f", "f.unfinished"]
        if fails:
            raise BadCorpus("source line 2", "broken")

    path = tmp_path / "f"
    path.write_text("old")
    for fails, content in ((True, "old"), (False, '{"text": "漢字"}\n')):
        if fails:
            refused(BadCorpus, write_jsonl, watched(fails), path)
        else:
            write_jsonl(watched(fails), path)
        assert path.read_text("utf-8") == content
        assert os.listdir(tmp_path) == ["f"]
    assert refused(UserError, write_jsonl, [], tmp_path / "none" / "f") == (
        f"{tmp_path / 'none' / 'f'} cannot be written (No such file or directory); name a file in "
        "a folder that exists, may be written to and has room."
    )
