"""Counts of shards are added up by their keys."""

import numpy as np
import pyarrow as pa
import pytest

from analysis.statistics.base.columns import HEAD, TOKEN_TYPE
from precompute.jobs.shards import added_up, as_stored, merged
from precompute.passes import STATISTICS

[COUNTED] = [statistic for statistic in STATISTICS.values() if statistic.counted]


def parts_of(n_rows: list[int]) -> list[pa.Table]:
    """Parts of rows with few keys each, whose names are in another order in every part."""
    draw = np.random.default_rng(0)
    parts = []
    for place, n in enumerate(n_rows):
        columns = {}
        for column in COUNTED.columns:
            drawn = pa.array(draw.integers(1, 4, size=n))
            if pa.types.is_dictionary(column.type):
                names = pa.array(np.roll(["cls", "sep", "other", "bos"], place))
                columns[column.name] = pa.DictionaryArray.from_arrays(drawn.cast(pa.int8()), names)
            else:
                columns[column.name] = drawn.cast(column.type)
        parts.append(pa.table(columns, schema=COUNTED.schema))
    return parts


def in_order(rows: pa.Table) -> dict:
    frame = rows.to_pandas().astype({TOKEN_TYPE.name: str})
    return frame.sort_values(list(frame.columns), ignore_index=True).to_dict("list")


def test_counts_add_up_to_what_their_table_says_of_merging():
    parts = parts_of([400, 0, 300])
    rows = merged(COUNTED, parts)
    assert rows.schema == COUNTED.schema
    assert in_order(rows) == in_order(as_stored(COUNTED, pa.concat_tables(parts)))
    assert 0 < len(rows) < 700
    assert in_order(merged(COUNTED, [rows])) == in_order(rows)
    heads = rows.select(["layer", HEAD.name]).to_pylist()
    assert heads == sorted(heads, key=lambda head: tuple(head.values()))
    assert merged(COUNTED, parts_of([0])) == COUNTED.schema.empty_table()


def test_a_key_that_no_number_can_stand_for_is_refused():
    largest = {column.name: [2**40] for column in COUNTED.columns}
    wide = pa.table(largest | {TOKEN_TYPE.name: pa.array(["cls"]).dictionary_encode()})
    with pytest.raises(ValueError, match="dims"):
        added_up(COUNTED, wide)
