"""Rows of JSON, tables, Parquet, Arrow and pickles: read, left out or refused with the reason."""

import copyreg
import os
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus, UserError
from precompute.corpora import left_out
from precompute.corpora.sequence import Entry
from precompute.corpora.texts.rows import EXPECTED, TEXT, write_jsonl
from precompute.corpora.texts.unlabeled_pickle import _Forgotten, pickle_rows
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
    '{"tokens": ["a", "b"]}': {1: ["a", "b"]},
    '{"tokens": ["a"], "segments": [1]}': {1: Entry("f line 1", tokens=("a",), segments=(1,))},
    '\n{"text": "a"}\r\n \t\n{"text": "b"}': {2: "a", 4: "b"},
    '["he ran", "she ran"]': {"item 1": "he ran", "item 2": "she ran"},
    '"he ran"\n"she \\u0041"\n': {1: "he ran", 2: "she A"},
    '["he", "ran"]\n["she"]\n': {1: ["he", "ran"], 2: ["she"]},
    '[{"text": "he"}, {"text_a": "a", "text_b": "b"}]': {"item 1": "he", "item 2": ("a", "b")},
    'id,text\n1,"the old, man"\n2,"she said ""no""\nand ran"\n3,x\n': {
        2: "the old, man",
        3: 'she said "no"\nand ran',
        5: "x",
    },
    'text\n"he, too, ran"\nshe ran\n': {2: "he, too, ran", 3: "she ran"},
    'text\tlabel\n"Hello," he said\t1\n"she ran\t0\n': {2: '"Hello," he said', 3: '"she ran'},
    f'id,text\n1,"{"word " * 40_000}"\n': {2: "word " * 40_000},
    "id,text\n1,\n2,she\n": {2: Blank("`text` is ''; it must hold some text"), 3: "she"},
    '["she ran .", "he"]\n["she"]\n': {
        1: Bad("is a list of texts, not of tokens; write a text to a line"),
        2: ["she"],
    },
    parquet(text=pa.array([None, "cat"]).cast(pa.dictionary(pa.int16(), pa.large_string()))): {
        "row 1": Blank("`text` is null; it must hold some text"),
        "row 2": "cat",
    },
    arrow(id=[1, 2], text=["The cat.", "A mat."]): {"row 1": "The cat.", "row 2": "A mat."},
    '{"tokens": ["[PAD]", "[CLS]", "the", "[PAD]", "[PAD]"], "segments": [0, 0, 1, 1, 0]}': {
        1: Entry("f line 1", tokens=("[CLS]", "the"), segments=(0, 1))
    },
    "\ufeff\n = Title = \n \n one \n two \n": {2: "= Title =", "lines 4-5": ("one", "two")},
    "a\u2028b\x0bc\x85d": {1: "a\u2028b\x0bc\x85d"},
    "the cat\n\ufeff \u200b\x07\nthe dog\nthe mat\nb": {
        1: "the cat",
        "lines 3-4": ("the dog", "the mat"),
        5: "b",
    },
}
HALF = "half of a UTF-16 pair and no character by itself; write the text anew as UTF-8"
NOT_JSON = "; a file that starts with { is read as JSON Lines, one whole object per line"
LEFT_OUT = {
    '{"text": 5}': Bad("`text` is 5; it must be a string"),
    '{"text": ""}': Blank("`text` is ''; it must hold some text"),
    '{"text": "\\u200b\\ufeff\\u0000"}': Blank(
        r"`text` is '\u200b\ufeff\x00'; it must hold some text"
    ),
    '{"text": "a\\ud800"}': Bad(rf"`text` holds '\ud800', {HALF}"),
    '{"text_a": "a", "text_b": " "}': Blank("`text_b` is ' '; it must hold some text"),
    '{"text": "a", "tokens": ["a"]}': Bad(f"holds `text` and `tokens`; {EXPECTED}"),
    '{"text": "a", "text": "b"}': Bad(
        f"is not JSON (the key 'text' stands twice in one object){NOT_JSON}"
    ),
    '{"tokens": []}': Blank("`tokens` is empty; it must hold at least one token"),
    '{"tokens": ["a"], "segments": [0, 1]}': Bad(
        "1 token(s) but 2 segment id(s); give one for each token"
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
    '{"text": "a", "x": NaN}': Bad(f"is not JSON (NaN is no JSON value){NOT_JSON}"),
    '{"x": ' + "[" * 100_000: Bad("is nested too deeply to be read; use flat objects"),
}
REFUSED: dict[str | bytes, str] = {
    "ham\tGo now\nspam\tFree, now\n": "f: has no column `text` (its first line: 'ham', 'Go now'); "
    "name the one of the texts with --column, or put the names of the columns into the first line",
    'id,text\n1,"he ran\n': "f line 2: is no row of a table (unexpected end of data); double the "
    "quotes within a quoted text",
    parquet(
        id=[1], body=["a"]
    ): "f: has no column `text` (its columns: 'id', 'body'); name the one "
    "of the texts with --column",
    '{"text": ""}\n[]': "f: holds no sequence; give a file that holds some text",
    b'{"text": "a"}\n' * 200 + b'{"text": "caf\xe9"}': "f line 201: byte 14 (0xe9) is not UTF-8; "
    "save the file as UTF-8",
    b"short\n" + b"x" * 17 * 2**20: "f line 2: goes on for more than 16 MiB; write a text of a few "
    "pages to a line",
}
GOOD = '{"text": "fine"}'
CASES = READ | REFUSED | {f"{GOOD}\n{row}\n": {1: "fine", 2: why} for row, why in LEFT_OUT.items()}


@pytest.mark.parametrize("content", CASES, ids=lambda content: str(content)[:60])
def test_a_file_is_read_row_by_row_or_refused_with_the_reason(tmp_path, content):
    path = written(tmp_path, content)
    assert_outcome(CASES[content], path, tokenizer=BUILT["bert"])


OF_COLUMNS: dict[str, tuple[str | bytes, Rows | str]] = {
    "of JSON Lines": ('{"text": "Not this.", "body": "The cat sat."}', {1: "The cat sat."}),
    "of JSON Lines that is not there": (
        '{"text": "Not this."}',
        "f line 1: has no key `body` (its keys: 'text'); name the one of the texts with --column",
    ),
    "of plain text": (
        "The cat sat.\n",
        "--column names the column of the texts in JSON, CSV, TSV, Parquet or Arrow, and f is "
        "plain text. Leave --column out.",
    ),
}


@pytest.mark.parametrize("case", OF_COLUMNS)
def test_a_column_that_is_named_is_read_and_no_other(tmp_path, case):
    content, expected = OF_COLUMNS[case]
    assert_outcome(expected, written(tmp_path, content), column="body")


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


RECORDS = [
    {"tokens": ["[CLS]", "the", "café", "[SEP]"], "attns": np.ones((2, 2, 4, 4), np.float16)},
    {"tokens": ["[CLS]", "[SEP]"], "attns": np.zeros((2, 2, 2, 2), np.float16)},
]
OF_RECORDS = {"entry 1": RECORDS[0]["tokens"], "entry 2": RECORDS[1]["tokens"]}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
ATTENTION = {
    "an array": np.ones((2, 2)),
    "a list": [np.arange(3), np.float64(1)],
    "objects": np.array([{"a": [1]}, None], dtype=object),
    "nothing": None,
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ATTENTION)
def test_whatever_stands_for_attention_is_passed_over(tmp_path, protocol, kind):
    """A new version of NumPy that writes other names shows here and not at a user's."""
    records = [{**record, "attns": ATTENTION[kind]} for record in RECORDS]
    assert_outcome(OF_RECORDS, written(tmp_path, pickle.dumps(records, protocol)))


PYTHON_2 = (
    b"(lp1\n(dp2\nS'tokens'\n(lp3\nV[CLS]\naVcaf\\u00e9\nasS'attns'\n"
    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    b"(I1\n(I1\ntcnumpy\ndtype\n(S'f2'\nI0\nI1\ntRI00\nS'\\x00\\xe9'\ntb"
    b"sa."
)
NUMPY_1 = pickle.dumps(RECORDS, 0).replace(b"numpy._core", b"numpy.core")
FORMS = {
    "of Python 2": (PYTHON_2, {"entry 1": ["[CLS]", "café"]}),
    "of NumPy 1": (NUMPY_1, OF_RECORDS),
    "twice": (
        pickle.dumps(RECORDS) * 2,
        "f: goes on after the end of its pickle; download it again, or give the corpus as JSON "
        "Lines",
    ),
    "no list": (
        pickle.dumps({"tokens": []}),
        "f: holds {'tokens': []}; it must be a pickled list of dicts",
    ),
    "one text": (
        pickle.dumps([{"tokens": "ab"}]),
        "f entry 1: `tokens` is 'ab'; it must be a list of strings",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read_or_refused(tmp_path, form):
    content, expected = FORMS[form]
    assert_outcome(expected, written(tmp_path, content))


@pytest.mark.parametrize("protocol", [PROTOCOLS[0], PROTOCOLS[-1]])
def test_cut_short_anywhere_the_pickle_is_refused(tmp_path, protocol):
    content = pickle.dumps(RECORDS[1:], protocol)
    for end in range(6, len(content)):
        assert str(outcome(written(tmp_path, content[:end]))).startswith(
            "f: is a damaged pickle ('"
        )
    assert_outcome({"entry 1": RECORDS[1]["tokens"]}, written(tmp_path, content))


@unhurried(150)
@given(data=st.data(), protocol=st.sampled_from(PROTOCOLS))
def test_damaged_anywhere_the_pickle_is_read_or_refused(tmp_path_factory, data, protocol):
    content = bytearray(pickle.dumps(RECORDS[1:], protocol))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(2, len(content) - 1))] = data.draw(st.integers(0, 255))
    outcome(written(tmp_path_factory.mktemp("damaged"), bytes(content)))  # no other error


def test_attention_is_passed_over_as_it_is_read(tmp_path):
    """A dozen large arrays cost no more memory than the tokens beside them."""
    attention = np.ones((2, 2, 256, 256))
    path = tmp_path / "f"
    records = [{"tokens": ["a"], "attns": attention.copy()} for _ in range(12)]
    path.write_bytes(pickle.dumps(records, 4))
    tracemalloc.start()
    assert len(list(pickle_rows(path, TEXT))) == 12
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


class Payload:
    """Unpickled by anything but the reader, it writes a file."""

    def __reduce__(self):
        return os.system, ("echo run > trace",)


ASKS_FOR = (
    "f: asks for {!r}, which no list of tokens needs and which could run code; nothing of it was "
    "run; do not trust this file"
)


@pytest.mark.parametrize("protocol", [PROTOCOLS[0], PROTOCOLS[-1]])
def test_a_pickle_that_would_run_code_is_refused_and_runs_none(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    for attention in (np.array([Payload()], dtype=object), Payload()):
        content = pickle.dumps([{"tokens": ["a"], "attns": attention}], protocol)
        assert outcome(written(tmp_path, content)) == ASKS_FOR.format(f"{os.name}.system")
        assert not Path("trace").exists()
    pickle.loads(content)
    assert Path("trace").exists(), "this test could not have failed"


@pytest.mark.parametrize(
    "name", ["builtins eval", "numpy load", "numpy ndarray.tofile", "copyreg _reconstructor"]
)
def test_every_other_name_is_refused(tmp_path, name):
    module, attribute = name.encode().split()
    lengths = len(module), module, len(attribute), attribute
    stack_global = b"\x80\x04\x8c%c%b\x8c%c%b\x93." % lengths
    for content in (b"\x80\x02c%b\n%b\n." % (module, attribute), stack_global):
        assert outcome(written(tmp_path, content)) == ASKS_FOR.format(name.replace(" ", "."))


HARMFUL = {
    "endless bytes": b"\x80\x04\x8e" + (2**62).to_bytes(8, "little"),
    "an endless memo": b"\x80\x02]r\xff\xff\xff\xff",
    "a name by number": b"\x80\x02\x82\xf0)R.",
    "an attribute of a stub": b"\x80\x02cnumpy\nndarray\n}X\x01\x00\x00\x00xK\x01sb.",
}


@pytest.mark.parametrize("kind", HARMFUL)
def test_what_would_take_memory_or_change_the_reader_is_a_damaged_pickle(tmp_path, kind):
    copyreg.add_extension("os", "getcwd", 0xF0)  # a name that is then found without being named
    try:
        assert "f: is a damaged pickle (" in str(outcome(written(tmp_path, HARMFUL[kind])))
    finally:
        copyreg.remove_extension("os", "getcwd", 0xF0)
        copyreg.clear_extension_cache()
    assert not hasattr(_Forgotten, "x")
