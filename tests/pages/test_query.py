"""A reader asks, and sees an answer that is of the file alone, drawn and listed."""

import math
from shutil import copyfile

import pandas as pd
import pytest

from pages.export import files as export
from pages.query.ask import LONGEST_IN_LINK
from pages.query.chart import Roles, can_be_drawn, chart, usual
from pages.query.examples import EXAMPLES
from pages.services.sql_asking import COLUMNS, Answer, Fault, asked
from pages.words.say import plain
from tests.pages.conftest import assert_sound, captions, charts, frames, in_address, sentences

LAYERS = "select layer, head, previous from head_pattern where layer = 1 order by head"


pytestmark = pytest.mark.slow
OF_PAGE = "query"


def test_an_example_takes_the_place_of_the_question_and_of_its_headline(section):
    session = section("ask", qu_sql=LAYERS, qu_shows="Head 3 & <b>others</b> of layer_1")
    assert plain("Head 3 & <b>others</b> of layer_1") in sentences(session)
    session.menu_button(key="qu_example").click("pairs").run()
    assert_sound(session)
    assert in_address(session, "qu_sql") == [EXAMPLES["pairs"].sql]
    assert in_address(session, "qu_shows") == []
    assert list(frames(session)[0]) == ["pair", "mean_delta", "n"]
    assert charts(session)[0]["layer"][0]["mark"]["type"] == "bar"


def test_what_is_drawn_is_the_readers_choice_and_usual_again_for_another_question(section):
    chosen = {"qu_kind": "points", "qu_x": "previous", "qu_y": "head", "qu_colour": ""}
    session = section("ask", qu_sql=LAYERS, **chosen)
    drawn = charts(session)[0]["layer"][0]
    assert drawn["mark"]["type"] == "circle"
    assert [drawn["encoding"][axis]["title"] for axis in "xy"] == ["previous", "head"]
    sql = "select layer, avg(entropy) as entropy from head_pattern where layer <> 9 group by layer"
    session.text_area[0].set_value(sql).run()
    assert in_address(session, "qu_sql") == [sql]
    drawn = charts(session)[0]["layer"][0]
    assert [drawn["encoding"][axis]["title"] for axis in "xy"] == ["layer", "entropy"]
    assert in_address(session, "qu_x") == []


def test_what_the_database_says_against_a_question_is_shown_as_it_is(section):
    session = section("ask", qu_sql="select ```<script>**x**", lang="ja")
    [error] = [box.value for box in session.error]
    fence = "``````"  # longer than any in the question
    assert "受け付けませんでした" in error
    message = error.partition(f"{fence}text\n")[2]
    assert message.startswith("Parser Error: unterminated quoted identifier")
    assert message.endswith(f"\n{fence}")
    assert not charts(session)


def test_long_answers_are_cut_and_long_questions_are_not_in_the_link(section, exported):
    rows = "select range as n, n * n as square from range(100001)"
    long = f"{rows} where '{'x' * LONGEST_IN_LINK}' <> ''"
    session = section("ask")
    session.text_area[0].set_value(long).run()
    assert_sound(session)
    assert "too long for a link" in session.warning[0].value
    assert "qu_sql" not in session.query_params
    assert "Only the first 100,000 rows" in captions(session)
    assert "Only the first 5,000 rows are drawn" in captions(session)
    assert {len(shown.frame) for shown in exported.values()} == {5_000, 100_000}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"layer": [1, 2], "mean": [0.1, 0.2], "low": [0, 0], "high": [1, 1]},
            Roles("lines", "layer", "mean"),
        ),
        (
            {"layer": [1, 1, 2, 2], "head": [1, 2] * 2, "entropy": [0.1, 0.2, 0.3, 0.4]},
            Roles("lines", "layer", "entropy", "head"),
        ),
        ({"pair": ["a", "b"], "n": [5, 6], "delta": [0.1, 0.2]}, Roles("bars", "pair", "delta")),
        ({"token": ["a", "a"], "delta": [0.1, 0.2]}, Roles("points", "token", "delta")),
        ({"n": [5, 6], "square": [25, 36]}, Roles("points", "square", "n")),
    ],
    ids=str,
)
def test_columns_are_drawn_as_they_usually_are(columns, expected):
    frame = pd.DataFrame(columns)
    assert can_be_drawn(frame)
    assert usual(frame) == expected
    for kind in ("bars", "lines", "points"):
        drawn = chart(frame, Roles(kind, expected.x, expected.y, expected.colour))
        assert "mark-" in export.svg(drawn)


@pytest.fixture(scope="module")
def ask(store_folder):
    """Asks the store of the passes several questions."""
    return lambda *questions, **limits: asked(
        str(store_folder / "tiny.duckdb"), questions, **limits
    )


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


def test_every_example_finds_something_that_can_be_drawn(ask):
    outcomes = ask(*(example.sql for example in EXAMPLES.values()))
    for name, outcome in zip(EXAMPLES, outcomes, strict=True):
        assert len(outcome.frame) > 1, f"{name}: {outcome}"


def test_values_arrive_in_kinds_that_pages_know(ask):
    [outcome] = ask(
        """
        select 1 as a, 2::hugeint * 9223372036854775807 as b, 1.5::decimal(3, 1) as c, true as d,
            [1] as e, 'ä' as f, date '2020-01-02' as a
        union all select null, null, 'nan'::double, null, null, null, null
        """
    )
    kinds = ["Int64", "str", "float64", "boolean", "str", "str", "str"]
    assert list(outcome.frame) == [*"abcdef", "a_2"]
    assert [*map(str, outcome.frame.dtypes)] == kinds
    written = [1, "18446744073709551614", 1.5, True, "[1]", "ä", "2020-01-02"]
    assert outcome.frame.iloc[0].tolist() == written
    assert math.isnan(outcome.frame["c"][1])


def test_an_answer_has_no_more_rows_and_columns_than_may_be_shown(ask):
    many = ", ".join(f"{place} as c{place}" for place in range(COLUMNS + 1))
    ten, eleven, wide = ask("from range(10)", "from range(11)", f"select {many}", rows=10)
    assert (len(ten.frame), ten.was_cut) == (10, False)
    assert (len(eleven.frame), eleven.was_cut) == (10, True)
    assert wide == Fault("large")


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        "select pg_sleep(60)",
        "with recursive a as (select 1 as n union all select n + 1 from a) select count(*) from a",
        "select levenshtein(repeat('a', 100000), repeat('b', 100000))",
    ],
)
def test_a_question_that_runs_away_is_stopped(question, ask, tmp_path):
    assert ask(question, "select 1", seconds=0.2) == [Fault("slow")]
    assert asked(str(tmp_path / "no.duckdb"), ["select 1"]) == [Fault("ended")]
