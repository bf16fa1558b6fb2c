"""Paths with any letters give a file at that path and no other, or are refused at once."""

from dataclasses import replace
from pathlib import Path, PureWindowsPath

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import UserError
from analysis.foreign_file import attaching
from analysis.statistics.question import quoted_files
from pages.services.open_file import Store, Version
from precompute.jobs.runner import run_local
from precompute.run import _misread, run
from tests.refusals import refused
from tests.small_store import fetched, request

NAMES = ("a?b", "a*b", "a[x]b", "[!x]", "**", "[", "a'b", 'a"b', "a%b", "猫 犬", "a\nb", "{a,b}")


def test_a_file_is_read_by_its_path_alone(tmp_path):
    """Beside folders that the names as patterns would mean."""
    for number, name in enumerate((*NAMES, "axb", "ayyb", "x")):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"number": [number]}), tmp_path / name / "a.parquet")
    for number, name in enumerate(NAMES):
        file = quoted_files(str(tmp_path / name / "a.parquet"))
        query = f"select number from read_parquet([{file}])"
        assert duckdb.execute(query).fetchall() == [(number,)]


def test_a_run_makes_a_file_at_such_a_path_of_the_shards_beside_it(tmp_path, monkeypatch):
    """Both folders hold shards of the same names."""
    asked = request(tmp_path, statistics=["completeness"])
    monkeypatch.chdir(tmp_path)
    counts = set()
    for path in ("axb/a.duckdb", "a[x]b/a?b.duckdb", "~x/a.duckdb", "md:x/a.duckdb"):
        run(replace(asked, output=Path(path)), run_local)
        counts |= {*fetched(tmp_path / path, "select count(*) from stored.token")}
    assert len(counts) == 1


@pytest.mark.parametrize(
    ("path", "letter"),
    [
        ("a?b/c.duckdb", "'?'"),
        ("a?access_mode=read_only/c.duckdb", "'?'"),
        ("a\\b/c.duckdb", r"'\\'"),
        ("a/\udcff.duckdb", r"'\udcff'"),
    ],
)
def test_what_duckdb_reads_as_another_path_is_refused_before_a_model_is_read(
    tmp_path, path, letter
):
    asked = replace(request(tmp_path), output=tmp_path / path, model="none")
    message = refused(UserError, run, asked, run_local)
    assert message.endswith(
        f" holds {letter}, which DuckDB does not take as a letter. Give --output a path without it."
    )
    assert message.isprintable()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model-bert", "text.txt"]


@pytest.mark.parametrize(
    ("path", "letter"),
    [
        (r"C:\Users\me\statistics\mine.duckdb", ""),
        (r"\\server\share\mine.duckdb", ""),
        (r"C:\a?b\mine.duckdb", "?"),
    ],
)
def test_a_path_of_windows_is_read_as_one(path, letter):
    assert _misread(PureWindowsPath(path)) == letter


@pytest.mark.parametrize("name", [r"C:\me\a.duckdb", r"D:\a'b\猫 犬.duckdb", "E:a.duckdb"])
def test_a_file_is_attached_by_the_letters_of_a_path_of_windows(tmp_path, monkeypatch, name):
    """DuckDB takes a backslash for a slash on every system."""
    monkeypatch.chdir(tmp_path)
    path = Path(name.replace("\\", "/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path)) as store:
        store.execute("create table a as select 7 as b")
    with duckdb.connect() as store:
        for statement in attaching(name):
            store.execute(statement)
        assert store.execute("from file.a").fetchall() == [(7,)]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (r"C:\Users\me\bert-base", "bert-base"),
        (r"\\server\share\bert-base", "bert-base"),
        ("/srv/models/bert-base", "bert-base"),
        ("owner/bert-base", "owner/bert-base"),
    ],
)
def test_a_model_in_a_folder_has_its_name_on_whichever_system_the_file_was_made(model, name):
    version = Version("tiny.duckdb", 0, 0)
    assert Store(version, pd.Series({"model": model}), {}, {}, "").model == name
