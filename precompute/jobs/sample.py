"""Sampling of tables whose corpus is too large for the file."""

from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import SEQUENCES, Sample, rarest_facts, sample_facts
from analysis.statistics.question import quoted_files
from precompute.jobs.bounds import Bounds, block_of, sample_order
from precompute.jobs.plan import Plan


@dataclass(frozen=True)
class Cut:
    """SQL that restricts shards, a query in place of the table's merge, and facts for the file."""

    only: str = ""
    merge: str = ""
    facts: dict[str, str] = field(default_factory=dict)


WHOLE = Cut()


def cut_of(
    store: DuckDBPyConnection, plan: Plan, table: Table, rows: str, pieces: list[str]
) -> Cut:
    """Return the cut of a table from the view of its shards, each of whose pieces is merged alone;
    empty if all of it fits."""
    is_large = len(plan.corpus) > plan.bounds.blocks
    if table.rarest and is_large:
        return _without_the_rarest(store, table, rows, pieces, plan.bounds)
    if not table.of_sequences:
        return WHOLE
    if table.per_block and is_large:
        register_blocks(store, plan)
        return Cut(merge=table.per_block)
    n_texts = register_texts(store, plan)
    if table.merge != Table.merge:  # the merge has sampled, from all sequences
        return Cut(only="semi join texts using (seq)")
    return _sampled(store, plan, table, rows, is_cut=n_texts < len(plan.corpus))


def register_blocks(store: DuckDBPyConnection, plan: Plan) -> None:
    """Create the table `blocks`: seq, block."""
    block = block_of(plan.corpus.units(), plan.bounds.blocks)
    _register(store, "blocks", seq=np.arange(len(block)), block=block)


def register_texts(store: DuckDBPyConnection, plan: Plan) -> int:
    """Create the tables `drawn`, the order of sampling, and `texts`, the sequences with stored
    text; return their number."""
    order = sample_order(len(plan.corpus), plan.kept_first)
    _register(store, "drawn", seq=order, place=np.arange(len(order)))
    file = quoted_files(str(plan.corpus_file(SEQUENCES)))
    sizes = f"select seq, n_tokens as n from read_parquet({file})"
    return _keep(store, "texts", sizes, rows=plan.bounds.raw_rows)


def _register(store: DuckDBPyConnection, name: str, **columns: np.ndarray) -> None:
    arrays = {column: pa.array(values, pa.int32()) for column, values in columns.items()}
    store.register("made", pa.table(arrays))
    store.execute(f"create temp table {name} as from made")
    store.unregister("made")


def _keep(
    store: DuckDBPyConnection, name: str, sizes: str, *, rows: int, sequences: int | None = None
) -> int:
    """Create a table of the first sequences of `drawn` within limits, by a query for their sizes
    (seq, n); return their number, not 0."""
    few = "" if sequences is None else f"and number <= {sequences}"
    store.execute(
        f"""
        create temp table {name} as
        select seq from (
            select seq, sum(n) over (order by place) as total,
                row_number() over (order by place) as number
            from ({sizes}) join drawn using (seq)
        )
        where total <= {rows} {few} or number = 1
        """
    )
    return store.execute(f"select count(*) from {name}").fetchall()[0][0]


def _sampled(
    store: DuckDBPyConnection, plan: Plan, table: Table, rows: str, *, is_cut: bool
) -> Cut:
    """Return the cut to sequences with stored text, as many as blocks, or as many as fit.

    The row limit applies to tables with many rows per sequence. `is_cut` if some have no text.
    """
    [(n_there,)] = store.execute(f"select count(distinct seq) from {rows}").fetchall()
    sizes = f"select seq, count(*) as n from {rows} semi join texts using (seq) group by seq"
    most = None if table.raw_rows else plan.bounds.blocks
    n_kept = _keep(store, "kept", sizes, rows=plan.bounds.raw_rows, sequences=most)
    if n_kept == n_there and not (table.raw_rows and is_cut):
        return WHOLE
    sample = Sample(n_kept, len(plan.corpus) if table.raw_rows else n_there)
    return Cut("semi join kept using (seq)", facts=sample_facts(table, sample))


def _without_the_rarest(
    store: DuckDBPyConnection, table: Table, rows: str, pieces: list[str], bounds: Bounds
) -> Cut:
    """Return the cut to the groups with most rows in shards, each of which becomes a row per piece.

    The largest piece has all groups.
    """
    columns = ", ".join(table.rarest)

    def n_rows(piece: str) -> int:
        return store.execute(f"select count(*) from {rows} where {piece}").fetchall()[0][0]

    store.execute(
        f"create temp table groups as select {columns}, count(*) as n from {rows} "
        f"where {max(pieces, key=n_rows, default='false')} group by {columns}"
    )
    by_size = "select n, count(*) from groups group by n order by n desc"
    sizes = store.execute(by_size).fetchall()
    totals = accumulate(n_groups * len(pieces) for _, n_groups in sizes)
    fits = [n for (n, _), total in zip(sizes, totals, strict=True) if total <= bounds.raw_rows]
    if len(fits) == len(sizes):
        return WHOLE
    least = fits[-1] if fits else sizes[0][0] + 1
    store.execute(f"create temp table frequent as from groups where n >= {least}")
    only = f"semi join frequent using ({columns})"
    return Cut(only, facts=rarest_facts(table, least))
