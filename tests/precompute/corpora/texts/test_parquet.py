"""A Parquet file gives the texts of its column."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import BadCorpus
from precompute.corpora.load import entries
from precompute.corpora.sequence import Entry
from precompute.corpora.texts.rows import TEXT, entry_of, parquet_rows
from tests.refusals import refused

TEXTS = [f"Text number {number}." for number in range(700)]


def _written(path, column, name="text"):
    pq.write_table(pa.table({"id": range(len(column)), name: column}), path, row_group_size=300)
    return str(path)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int16(), pa.large_string()),
    ],
)
def test_a_row_is_a_text(tmp_path, kind):
    path = _written(tmp_path / "texts", pa.array(TEXTS).cast(kind))
    expected = [Entry(f"texts row {row}", (text,)) for row, text in enumerate(TEXTS, start=1)]
    assert list(entries(path)) == expected


@pytest.mark.parametrize(
    ("column", "name", "reason"),
    [
        (TEXTS, "body", " has no column `text` (its columns: 'id', 'body'); name the one of"),
        ([1, 2], "text", " column `text` is of type int64; it must hold strings"),
        (["a", None], "text", " row 2: `text` is null; it must hold some text"),
        (["a", "b", " "], "text", " row 3: `text` is ' '; it must hold some text"),
    ],
)
def test_what_is_no_column_of_texts_is_refused(tmp_path, column, name, reason):
    path = Path(_written(tmp_path / "texts", column, name))
    rows = parquet_rows(path, TEXT)
    message = refused(BadCorpus, lambda: [entry_of(value, place) for place, value in rows])
    assert reason.strip() in message
    assert message.startswith("texts")


def test_a_relative_name_with_a_colon_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _written(tmp_path / "wiki:en.parquet", TEXTS[:2])
    assert list(entries("wiki:en.parquet")) == [
        Entry(f"wiki:en.parquet row {row}", (text,)) for row, text in enumerate(TEXTS[:2], start=1)
    ]


def test_a_damaged_file_is_refused(tmp_path):
    path = Path(_written(tmp_path / "texts", TEXTS))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    message = refused(BadCorpus, lambda: list(entries(str(path))))
    assert message.startswith("texts: is a damaged Parquet file (")


def test_a_column_that_unfolds_into_what_no_text_does_is_refused(tmp_path):
    texts = [f"{n}" + "cat " * 2**20 for n in range(20)]
    table = pa.table({"text": texts})
    pq.write_table(table, tmp_path / "bomb", compression="zstd", use_dictionary=False)
    assert refused(BadCorpus, lambda: list(entries(str(tmp_path / "bomb")))) == (
        "bomb: column `text` unfolds into more than 200 times its size, as no text does; unpack "
        "it first if you trust it"
    )
