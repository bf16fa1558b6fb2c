"""Texts that are called otherwise are named by their column, and nothing else is read."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from analysis.errors import UserError
from precompute.command_line import app
from precompute.corpora.load import entries
from precompute.corpora.sequence import Entry
from tests.precompute.corpora.tiny import load
from tests.refusals import refused

ROWS = [
    {"title": "One", "body": "The cat sat.", "text": "Not this."},
    {"title": "Two", "body": "The dog ran.", "text_a": "Nor this.", "tokens": ["x"]},
]


def jsonl(path: Path, rows=ROWS) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def parquet(path: Path, rows=ROWS) -> str:
    columns = [{key: row.get(key) for key in ("title", "body", "text")} for row in rows]
    pq.write_table(pa.Table.from_pylist(columns), path)
    return str(path)


@pytest.mark.parametrize("write", [jsonl, parquet])
@pytest.mark.parametrize("column", ["body", "title"])
def test_the_column_that_is_named_is_read_and_no_other(tmp_path, write, column):
    found = list(entries(write(tmp_path / "f"), column=column))
    assert [entry.texts[0] for entry in found] == [row[column] for row in ROWS]


def test_a_corpus_of_another_column_is_another_corpus(tmp_path):
    rows = [{"text": "The cat.", "body": "The dog."}]
    path = jsonl(tmp_path / "f", rows)
    usual, other = load(path), load(path, column="body")
    assert usual.sequences[0].text != other.sequences[0].text
    assert usual.sha256 == other.sha256


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (
            jsonl,
            "f line 1: has no key `content` (its keys: 'title', 'body', 'text'); name the one of "
            "the texts with --column. It is the first of 2 malformed rows among 2; more than 1 in "
            "100 are too many to be left out.",
        ),
        (
            parquet,
            "f: has no column `content` (its columns: 'title', 'body', 'text'); name the one of "
            "the texts with --column",
        ),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path, write, message):
    path = write(tmp_path / "f")
    assert refused(UserError, lambda: list(entries(path, column="content"))) == message


@pytest.mark.parametrize(
    ("text", "form"),
    [("The cat sat.\n", "plain text"), ("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", "CoNLL-U")],
)
def test_a_column_of_what_has_none_is_refused(tmp_path, text, form):
    path = tmp_path / "f"
    path.write_text(text)
    assert refused(UserError, lambda: list(entries(str(path), column="body"))) == (
        "--column names the column of the texts in JSON, CSV, TSV, Parquet or Arrow, and f is "
        f"{form}. Leave --column out."
    )


def test_it_is_an_option_of_convert(tmp_path):
    given = ["convert", "--corpus", parquet(tmp_path / "f"), "--column", "body"]
    output = tmp_path / "texts.jsonl"
    assert CliRunner().invoke(app, [*given, "--output", str(output)]).exit_code == 0
    assert [json.loads(line) for line in output.read_text().splitlines()] == [
        {"text": row["body"]} for row in ROWS
    ]


@pytest.mark.parametrize("value", [3, None])
def test_what_is_no_text_is_refused_by_the_name_of_its_column(tmp_path, value, capsys):
    path = jsonl(tmp_path / "f", [{"body": value}, {"body": "The cat."}])
    assert list(entries(path, column="body")) == [Entry("f line 2", ("The cat.",))]
    assert capsys.readouterr().out.startswith("Left out: f line 1: `body` is ")
