"""Answers have few kinds of columns, and ends."""

import math
from pathlib import Path

import pandas as pd
import pytest

from pages.query.examples import EXAMPLES
from pages.ui.sql import process
from pages.ui.sql.asking import COLUMNS, Answer, Fault, asked


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


def test_columns_of_an_empty_answer_keep_their_names(ask):
    [outcome] = ask("select 1 as a, 'x' as a where false")
    pd.testing.assert_index_equal(outcome.frame.columns, pd.Index(["a", "a_2"]))


def test_the_order_that_a_question_asks_for_stays(ask):
    [outcome] = ask("select range from range(1000) order by range % 7, range desc", rows=3)
    assert outcome.frame["range"].tolist() == [994, 987, 980]


def test_a_process_that_ends_is_no_answer(ask):
    assert ask("select pg_sleep(60)", "select 1", seconds=0.2) == [Fault("slow")]


def test_a_file_that_takes_forever_to_open_is_given_up(ask, monkeypatch):
    monkeypatch.setattr(process, "_TO_OPEN", 0.0)
    assert ask("select 1", seconds=0.01) == [Fault("slow")]


def test_a_missing_file_is_a_process_that_ends(tmp_path: Path):
    assert asked(str(tmp_path / "no.duckdb"), ["select 1"]) == [Fault("ended")]
