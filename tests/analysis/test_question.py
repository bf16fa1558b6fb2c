"""Answers read in batches are the same frame as answers read at once."""

import duckdb
import pandas as pd
import pytest

from analysis.statistics.question import frame_of

KINDS = ("'x' || i", "i", "i / 3", "i % 2 = 0", "[i]", "'a'::enum('a', 'b')", "i::hugeint")


@pytest.mark.parametrize("absent", ["false", "true", "i < 30000", "i >= 30000"])
@pytest.mark.parametrize("n", [0, 5, 60_000])
def test_an_answer_in_parts_has_the_columns_of_one_at_once(absent, n):
    columns = (f"if({absent}, null, {kind}) as c{place}" for place, kind in enumerate(KINDS))
    sql = f"select {', '.join(columns)} from range({n}) as each(i)"
    with duckdb.connect() as store:
        pd.testing.assert_frame_equal(frame_of(store, sql), store.execute(sql).df())
