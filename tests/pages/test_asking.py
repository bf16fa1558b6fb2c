"""Answers have few kinds of columns, and ends, and are of the file alone."""

import math
from pathlib import Path
from shutil import copyfile

import pytest

from pages.query.examples import EXAMPLES
from pages.services.sql_asking import COLUMNS, Answer, Fault, asked


@pytest.fixture(scope="module")
def ask(store_folder):
    """Asks the store of the passes several questions."""
    return lambda *questions, **limits: asked(
        str(store_folder / "tiny.duckdb"), questions, **limits
    )


def test_every_example_finds_something_that_can_be_drawn(ask):
    outcomes = ask(*(example.sql for example in EXAMPLES.values()))
    for name, outcome in zip(EXAMPLES, outcomes, strict=True):
        assert isinstance(outcome, Answer), f"{name}: {outcome}"
        assert len(outcome.frame) > 1, name


def test_values_arrive_in_kinds_that_pages_know(ask):
    [outcome] = ask(
        """
        select 1 as a, sum(2) as b, 2::hugeint * 9223372036854775807 as c,
            1.5::decimal(3, 1) as d, true as e, [1] as f, 'ä' as g, date '2020-01-02' as a
        union all select null, 3, null, 'nan'::double, null, null, null, null
        """
    )
    assert isinstance(outcome, Answer)
    frame = outcome.frame
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "a": "Int64",
        "b": "int64",
        "c": "str",
        "d": "float64",
        "e": "boolean",
        "f": "str",
        "g": "str",
        "a_2": "str",
    }
    written = [1, 2, "18446744073709551614", 1.5, True, "[1]", "ä", "2020-01-02"]
    assert frame.iloc[0].tolist() == written
    assert frame["g"].isna().tolist() == [False, True]
    assert math.isnan(frame["d"][1])


def test_an_answer_has_no_more_rows_and_columns_than_may_be_shown(ask):
    many = ", ".join(f"{place} as c{place}" for place in range(COLUMNS + 1))
    ten, eleven, wide = ask("from range(10)", "from range(11)", f"select {many}", rows=10)
    assert (len(ten.frame), ten.was_cut) == (10, False)
    assert (len(eleven.frame), eleven.was_cut) == (10, True)
    assert wide == Fault("large")


def test_a_process_that_ends_is_no_answer(ask):
    assert ask("select pg_sleep(60)", "select 1", seconds=0.2) == [Fault("slow")]


def test_a_missing_file_is_a_process_that_ends(tmp_path: Path):
    assert asked(str(tmp_path / "no.duckdb"), ["select 1"]) == [Fault("ended")]


SECRET = "what no question may show"
REFUSED = """
from read_text('{folder}/secret.txt')
from query('from read_text(''{folder}/secret.txt'')')
with a as (from read_csv('{folder}/secret.txt')) from a
from '{folder}/secret.txt'
from glob('{folder}/*')
attach '{folder}/other.duckdb' as other
from read_parquet('http://127.0.0.1:1/x.parquet')
copy run to '{folder}/written.parquet'
with a as (copy (select 1) to '{folder}/own.duckdb' (format csv, use_tmp_file false)) from a
with a as (delete from file.stored.sequence returning *) from a
update file.stored.run set model = 'x'
create or replace view run as select 1 as model
set enable_external_access = true
pragma database_list
install httpfs
from enable_profiling(save_location = '{folder}/written.json')
select getenv('MIXSCOPE_SECRET')
select 1; drop view run
/* from run */ drop view run
prepare p as from run
explain analyze copy (select 1) to '{folder}/written.csv'
from query('drop view run')
select ?
from store
select 0::pointer
select repeat('x', 3000000000)
"""
"""Files of the system, of others and of the net, writing, settings, several statements, memory."""
ENDLESS = """
select count(*) from range(1000000000000)
with recursive a as (select 1 as n union all select n + 1 from a) select count(*) from a
select levenshtein(repeat('a', 100000), repeat('b', 100000))
from range(10000000) a, range(1000000) b order by hash(a.range * b.range) desc limit 3
"""


def test_no_question_reads_or_writes_anything_but_the_file(store_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MIXSCOPE_SECRET", SECRET)
    for name in ("own.duckdb", "other.duckdb"):
        copyfile(store_folder / "tiny.duckdb", tmp_path / name)
    (tmp_path / "secret.txt").write_text(SECRET)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    questions = REFUSED.format(folder=tmp_path).strip().splitlines()
    *outcomes, last = asked(str(tmp_path / "own.duckdb"), [*questions, "select n_layers from run"])
    for question, outcome in zip(questions, outcomes, strict=True):
        assert isinstance(outcome, Fault), question
        assert SECRET not in outcome.message
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert isinstance(last, Answer)


@pytest.mark.slow
@pytest.mark.parametrize("question", ENDLESS.strip().splitlines())
def test_a_question_that_runs_away_is_stopped(question, ask):
    assert ask(question, seconds=0.2) == [Fault("slow")]
