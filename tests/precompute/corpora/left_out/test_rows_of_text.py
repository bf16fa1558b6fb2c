"""Rows without text are passed over, malformed ones as long as there are few; all are counted."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora import left_out
from precompute.corpora.index import corpus as index
from precompute.corpora.index.corpus import indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import Sequence
from tests.precompute.corpora.tiny import BUILT, load
from tests.refusals import refused

GOOD = '{"text": "the cat sat"}'
BLANK = (
    '{"text": ""}',
    '{"text": null}',
    '{"text": " \\n\\u00a0"}',
    '{"text": "\\u200b\\ufeff\\u0000"}',
    '{"text_a": "the", "text_b": ""}',
    '{"tokens": []}',
    "[]",
)
MALFORMED = (
    '{"text": 5}',
    '{"text": "the"',
    '{"txt": "the"}',
    "[7]",
    '{"tokens": ["the", 7]}',
    '{"tokens": ["the", "[PAD]", "cat"]}',
)


def write(folder: Path, *lines: str, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def unused(corpus) -> tuple[int, int]:
    """Return the counts of blank and of malformed rows."""
    return corpus.counts["blank_rows_left_out"], corpus.counts["malformed_rows_left_out"]


@pytest.mark.parametrize("line", [*BLANK, *MALFORMED])
def test_a_row_without_text_or_a_malformed_one_is_left_out_named_and_counted(
    tmp_path, line, capsys
):
    corpus = load(write(tmp_path, GOOD, line, GOOD))
    assert [sequence.place for sequence in corpus.sequences] == ["a.jsonl line 1", "a.jsonl line 3"]
    assert [sequence.index for sequence in corpus.sequences] == [0, 1]
    assert unused(corpus) == (line in BLANK, line in MALFORMED)
    said = "Left out: a.jsonl line 2: " + "`t" * (line in BLANK)
    assert capsys.readouterr().out.startswith(said)


def test_rows_of_parquet_are_left_out_likewise(tmp_path, capsys):
    path = tmp_path / "a"
    pq.write_table(pa.table({"text": ["", "the", "\n", None, "cat", " "]}), path)
    corpus = load(path)
    assert [sequence.place for sequence in corpus.sequences] == ["a row 2", "a row 5"]
    assert unused(corpus) == (4, 0)
    assert "Left out: a row 4: `text` is null; it must hold some text." in capsys.readouterr().out


def test_any_number_of_rows_may_be_blank(tmp_path):
    assert unused(load(write(tmp_path, GOOD, *BLANK[:2] * 20))) == (40, 0)
    assert refused(BadCorpus, load, write(tmp_path, *BLANK)) == (
        "a.jsonl: holds no sequence; give a file that holds some text"
    )


@pytest.mark.parametrize(
    ("n_good", "n_bad"), [(1, 1), (98, 1), (198, 2), (297, 3)], ids=lambda n: str(n)
)
def test_malformed_rows_are_left_out_up_to_one_in_a_hundred(tmp_path, n_good, n_bad):
    lines = [GOOD] * n_good
    path = write(tmp_path, *lines, *MALFORMED[:n_bad])
    assert unused(load(path)) == (0, n_bad)
    if n_bad > 1:
        few = write(tmp_path, *lines[1:], *MALFORMED[:n_bad], name="b.jsonl")
        assert refused(UserError, load, few) == (
            f"b.jsonl line {n_good}: `text` is 5; it must be a string. It is the first of {n_bad} "
            f"malformed rows among {n_good + n_bad - 1}; more than 1 in 100 are too many to be "
            "left out."
        )


def test_a_corpus_of_one_malformed_row_is_refused_for_what_is_wrong_in_it(tmp_path):
    assert refused(BadCorpus, load, write(tmp_path, '{"text": 5}', '{"text": ""}')) == (
        "a.jsonl line 1: `text` is 5; it must be a string"
    )


def test_what_is_wrong_with_a_file_and_not_with_a_row_refuses_it_at_once(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(f"{GOOD}\n".encode() * 200 + b'{"text": "caf\xe9"}')
    assert refused(BadCorpus, load, path) == (
        "a.jsonl line 201: byte 14 (0xe9) is not UTF-8; save the file as UTF-8"
    )


def test_rows_after_the_last_that_is_read_are_not_counted(tmp_path):
    path = write(tmp_path, BLANK[0], GOOD, MALFORMED[0], GOOD, BLANK[0], MALFORMED[1], GOOD)
    for limit, expected in ((1, (1, 0)), (2, (1, 1))):
        corpus = load(path, limit=limit)
        assert (len(corpus.sequences), unused(corpus)) == (limit, expected)
    assert "2 malformed rows among 7" in refused(UserError, load, path)


def test_a_file_of_malformed_rows_alone_is_not_read_to_its_end(tmp_path):
    path = write(tmp_path, *[MALFORMED[0]] * 150, GOOD)
    assert "100 malformed rows among 100" in refused(UserError, load, path)


def test_rows_of_several_files_are_counted_together(tmp_path):
    one = write(tmp_path, GOOD, BLANK[0], *[GOOD] * 200)
    other = write(tmp_path, MALFORMED[0], GOOD, BLANK[0], name="b.jsonl")
    assert unused(load((str(one), str(other)))) == (2, 1)
    assert unused(load((str(one), str(other), str(other)))) == (3, 2)


def test_a_run_that_goes_on_counts_every_row_once(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "PART_SEQUENCES", 2)
    path = write(tmp_path, GOOD, BLANK[0], GOOD, MALFORMED[0], *[GOOD] * 3, BLANK[1])
    begun = lambda: read_corpus(  # noqa: E731
        str(path), BUILT["bert"], positions=64, segment_types=2, max_tokens=12
    )

    def stopped(_: int) -> Iterator[Sequence]:
        yield from islice(begun().begin(0), 3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexed(replace(begun(), begin=stopped), tmp_path)
    corpus = indexed(begun(), tmp_path)
    assert (len(corpus), unused(corpus)) == (5, (2, 1))
    assert unused(indexed(begun(), tmp_path)) == (2, 1), "read from disk"
    (corpus.folder / "whole.parquet").unlink()
    assert indexed(begun(), tmp_path) == corpus


def test_long_lists_are_cut_for_each_kind(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(left_out, "LINES", 2)
    load(write(tmp_path, *[BLANK[0]] * 5, MALFORMED[0], GOOD))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[1] for line in lines] == [
        " a.jsonl line 1",
        " a.jsonl line 2",
        " a.jsonl line 6",
        " 3 more.",
    ]


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff \u00ad", "\x07"])
def test_a_line_that_shows_nothing_parts_documents_of_plain_text(tmp_path, blank):
    path = write(tmp_path, "the cat", blank, "the dog", "the mat", name="a.txt")
    places = [sequence.place for sequence in load(path).sequences]
    assert places == ["a.txt line 1", "a.txt lines 3-4"]


def test_a_letter_beyond_those_that_show_nothing_is_text(tmp_path):
    for text in ("\u3042\u200b", ".", "\u0301"):
        line = json.dumps({"text": text})
        assert unused(load(write(tmp_path, line), "gpt2")) == (0, 0)
