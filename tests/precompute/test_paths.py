"""Paths with any letters give a file at that path and no other, or are refused at once."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import UserError
from analysis.statistics.question import quoted_files
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.refusals import refused
from tests.small_store import request

NAMES = ("a?b", "a*b", "a[x]b", "[!x]", "**", "[", "a'b", 'a"b', "a%b", "猫 犬", "a\nb", "{a,b}")


@pytest.fixture(scope="module")
def siblings(tmp_path_factory) -> Path:
    """A folder of each name, and two that the names as patterns would mean; a file in each."""
    folder = tmp_path_factory.mktemp("siblings")
    for number, name in enumerate((*NAMES, "axb", "ayyb", "x")):
        (folder / name).mkdir()
        pq.write_table(pa.table({"number": [number]}), folder / name / "a.parquet")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_by_its_path_alone(siblings, name):
    file = quoted_files(str(siblings / name / "a.parquet"))
    query = f"select number from read_parquet([{file}])"
    assert duckdb.execute(query).fetchall() == [(NAMES.index(name),)]


def test_the_shards_of_a_folder_are_not_those_of_another(tmp_path):
    """Both folders hold shards of the same names, the first of them of another seed's numbers."""
    asked = request(tmp_path, statistics=["completeness"])
    for name in ("axb", "a[x]b"):
        run(replace(asked, output=tmp_path / name / "a.duckdb"), run_local)
    files = [tmp_path / name / "a.duckdb" for name in ("axb", "a[x]b")]
    counts = []
    for file in files:
        with duckdb.connect(str(file), read_only=True) as store:
            counts.append(store.execute("select count(*) from stored.token").fetchall())
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["~x", "md:x"])
def test_a_relative_path_is_of_this_folder(tmp_path, monkeypatch, name):
    asked = request(tmp_path, statistics=["completeness"])
    monkeypatch.chdir(tmp_path)
    run(replace(asked, output=Path(name) / "a.duckdb"), run_local)
    assert (tmp_path / name / "a.duckdb").exists()


@pytest.mark.parametrize(
    ("path", "letter"),
    [
        ("a?b/c.duckdb", "'?'"),
        ("a?access_mode=read_only/c.duckdb", "'?'"),
        ("a\\b/c.duckdb", r"'\\'"),
        ("a/b\\c.duckdb", r"'\\'"),
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


def test_a_question_mark_in_the_name_of_a_file_is_a_letter(tmp_path):
    output = tmp_path / "a?b.duckdb"
    run(request(tmp_path, statistics=["completeness"], output=output), run_local)
    assert output.exists()
