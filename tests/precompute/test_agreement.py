"""Two runs agree to the tolerance of their tables: exactly, or up to rounding in other batches."""

from functools import partial
from pathlib import Path
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from analysis.contracts import every_table
from analysis.statistics.base.tables import (
    EXACT,
    Table,
    View,
)
from analysis.statistics.corpus import MANIFEST, PROVENANCE, RUN
from precompute.corpora.index import corpus as index
from precompute.jobs.runner import run_local
from precompute.jobs.workers import run_processes
from precompute.run import run
from tests.shared_store import brief_parsers, shared_store
from tests.small_store import request as small_request

pytestmark = pytest.mark.slow

FAMILIES = {"bert": ["probing"], "llama": None, "vit": None}
"""Each with its statistics, all if None; the texts of the first have trees and coreference."""
OF_ITSELF = {RUN.name: ("model", "created_at")}
"""Columns that say when a file was made, and from which folder."""


@pytest.fixture(scope="module", params=FAMILIES)
def both(request, tmp_path_factory) -> tuple[Path, Path]:
    """Two files of the same model and corpus from different batches, workers and threads.

    The first is made in batches of 64 sequences, in this process with one thread; the second in
    batches of two. Two workers of two threads each make the second of images, which every process
    reads for itself. Parsers are trained briefly, in this process only.
    """
    family, statistics, annotated = request.param, FAMILIES[request.param], request.param == "bert"
    store = shared_store(tmp_path_factory, family, annotated=annotated)
    folder = tmp_path_factory.mktemp("other")
    asked = small_request(folder, family, annotated=annotated, statistics=statistics)
    runner = partial(run_processes, workers=2, cpus=2) if family == "vit" else run_local
    with brief_parsers(), patch.object(index, "JOB_SEQUENCES", 2):
        run(asked, runner)
    return store, asked.output


def test_numbers_of_other_batches_workers_and_threads_agree_as_their_tables_say(both, request):
    is_whole = FAMILIES[request.node.callspec.params["both"]] is None
    with duckdb.connect(str(both[0]), read_only=True) as store:
        store.execute(f"attach '{both[1]}' as other (read_only)")
        wrong = [
            message
            for table in every_table()
            if is_whole or table not in (RUN, PROVENANCE, MANIFEST)  # which say what was asked for
            for view in table.all_views
            if (message := disagreement(store, table, view))
        ]
    assert not wrong, "\n".join(wrong)


def disagreement(store: duckdb.DuckDBPyConnection, table: Table, view: View) -> str:
    """First column of a view that differs more than its table allows, and its difference."""
    agreement = table.agreement
    if agreement.tolerance is None:
        return ""
    left_out = {*table.round_off, *OF_ITSELF.get(table.name, ())}
    columns = [column for column in view.columns if column.name not in left_out]
    # frequencies and phases are keys too, and rows that tie come in any order
    sorted_by = sorted(columns, key=lambda column: _numbers(column.type))
    order = ", ".join(f'"{column.name}"' for column in sorted_by)
    names = ", ".join(f'"{column.name}"' for column in columns)
    read = f"select {names} from {{}}.{view.name} order by {order}"
    database = store.execute("select current_database()").fetchall()[0][0]
    first = store.sql(read.format(database)).to_arrow_table()
    other = store.sql(read.format("other")).to_arrow_table()
    if first.num_rows != other.num_rows and other.num_rows:  # 0: of no statistic that was asked for
        return f"{view.name}: {first.num_rows} rows and {other.num_rows}"
    for column in columns if other.num_rows else ():
        values = [rows[column.name].combine_chunks() for rows in (first, other)]
        if values[0].equals(values[1]):
            continue
        if agreement == EXACT or not _numbers(column.type):
            return f"{view.name}.{column.name} differs"
        flat = [np.array(_flat(array), dtype=float) for array in values]
        largest = np.nanmax(np.abs(flat[0]))
        difference = np.nanmax(np.abs(flat[0] - flat[1])) / largest
        if not difference <= agreement.tolerance or (np.isnan(flat[0]) != np.isnan(flat[1])).any():
            return f"{view.name}.{column.name} differs by {difference:.1e}"
    return ""


def _numbers(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind)


def _flat(values: pa.Array) -> list:
    return values.flatten().to_pylist() if pa.types.is_list(values.type) else values.to_pylist()
