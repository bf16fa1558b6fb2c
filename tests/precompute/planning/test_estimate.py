"""Costs of a run follow from a few sequences: their arithmetic, and the copies that stand in."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from precompute.planning.costs import _in_file
from precompute.planning.probes import Filled, Probes
from precompute.planning.rehearsal import _copy
from precompute.planning.stages import planned_stages

OF_BATCH, OF_SEQUENCE, MORE = 2.0, 3.0, 7.0
"""Seconds of a table: of every batch, of every sequence, and of each of which it reads more."""


def _filled(n: int, *, reads_more: bool = False) -> Filled:
    seconds = OF_BATCH + n * (OF_SEQUENCE + MORE * reads_more)
    bytes_of = {"table": 100 * n}
    return Filled(cast(Any, tuple(range(n))), {"table": seconds}, {}, bytes_of, 1000 + 100 * n)


@pytest.mark.parametrize("n_batch", [2, 5])
@pytest.mark.parametrize("n_read", [1, 0])
def test_what_a_batch_a_sequence_and_a_chosen_one_take_is_told_apart(n_batch, n_read):
    chosen = _filled(n_read or n_batch, reads_more=True)
    probes = Probes(_filled(1), _filled(n_batch), chosen, n_sequences=40, n_batches=4)
    assert probes.seconds("table", 16) == 4 * OF_BATCH + 40 * OF_SEQUENCE + 16 * MORE
    assert probes.memory("table") == 100 * 10, "a batch has ten sequences"
    assert probes.peak == 1000 + 100 * 10


def test_a_copy_has_a_number_and_measures_of_its_own():
    lists = pa.array([[2.0, 4.0], None, []], pa.list_(pa.float32()))
    rows = pa.table(
        {
            "seq": pa.array([3, 3, 3], pa.int32()),
            "n": pa.array([1, 2, 3]),
            "x": pa.chunked_array([[1.0, None], [4.0]], pa.float32()),
            "maps": lists,
        }
    )
    copy = _copy(rows, 7, 0.5)
    assert copy.schema == rows.schema
    assert copy.to_pydict() == {
        "seq": [7, 7, 7],
        "n": [1, 2, 3],
        "x": [0.5, None, 2.0],
        "maps": [[1.0, 2.0], None, []],
    }


@pytest.mark.parametrize(
    ("of_parquet", "in_file"), [(0, 0), (1, 2**18), (2**18 - 1, 2**18), (2**18, 2**19)]
)
def test_a_table_has_whole_blocks_and_none_without_rows(of_parquet, in_file):
    assert _in_file(of_parquet) == in_file


def test_a_fit_takes_longer_with_more_heads_and_what_is_there_nothing(tmp_path):
    def planned(n_layers: int) -> dict:
        here = SimpleNamespace(exists=lambda: True)
        files = defaultdict(lambda: tmp_path / "missing", {"there": here})
        tables = [
            SimpleNamespace(name=name, made_by=made_by)
            for name, made_by in (("merge", None), ("fit", 1), ("there", 1))
        ]
        plan = SimpleNamespace(passes=tables, table_file=lambda table: files[table.name])
        layer = SimpleNamespace(query_weight=np.zeros((4, 1)))
        model = SimpleNamespace(layers=[layer] * n_layers)
        return dict(planned_stages(cast(Any, plan), cast(Any, model)).seconds["tables"])

    small, large = planned(2), planned(10)
    assert small.keys() == large.keys() == {"merge", "fit"}
    assert small["merge"] == large["merge"] < small["fit"] < large["fit"]
