"""Checks of a file: completeness, laws and sums of parts."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from analysis.checksums import contents
from analysis.contracts import every_table
from analysis.error_limits import LIMITS
from analysis.errors import BrokenLaw, UserError
from analysis.foreign_file import BrokenContract, Locked, OtherSchema
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import MANIFEST
from analysis.time_limit import TooSlow
from precompute.jobs.tables import pieces
from precompute.store.cross_laws import CROSS_LAWS
from precompute.store.show import opened


def assert_laws(store: DuckDBPyConnection, table: Table) -> None:
    """Raise BrokenLaw unless every row of a stored table keeps its contract."""
    laws = (*table.laws, *table.bounds)
    if not laws:
        return
    broken = ", ".join(f"count(*) filter (where not ({law}))" for law in laws)
    counted = store.execute(f"select {broken} from stored.{table.name}").fetchall()[0]
    for law, rows in zip(laws, counted, strict=True):
        if rows:
            raise BrokenLaw(table.name, law, rows)


def assert_unique(store: DuckDBPyConnection, table: Table) -> None:
    """Raise BrokenLaw if two rows of a stored table have the same key."""
    if not table.key:
        return
    key, name = ", ".join(f'"{column.name}"' for column in table.key), f"stored.{table.name}"
    rows = 0
    for piece in pieces(store, table, name):
        twice = f"select 1 from {name} where {piece} group by {key} having count(*) > 1"
        [(n_twice,)] = store.execute(f"select count(*) from ({twice})").fetchall()
        rows += n_twice
    if rows:
        raise BrokenLaw(table.name, f"unique ({key})", rows)


_ERRORS = (
    ("relative_error", "sequence_completeness", "attention block at position ' || worst_pos || '"),
    ("attention_sum_error", "sequence_completeness", "attention weights"),
    ("relative_error", "layer_completeness", "whole layer at position ' || worst_pos || '"),
    ("relative_error", "vector_completeness", "vectors through all layers up to it"),
    ("greatest(score_error, trace_error, attention_error)", "query_key_error", "query-key form"),
)
"""Errors that have a limit, with their tables and what adds up, in SQL."""


def assert_parts_add_up(store: DuckDBPyConnection) -> None:
    """Raise UserError unless parts add up to the model's output, and attention rows to 1."""
    ((dtype,),) = store.execute("select dtype from run").fetchall()
    errors = " union all ".join(
        f"select seq, layer, {error} as error, '{part}' as part from {table}"
        for error, table, part in _ERRORS
    )
    worst = f"from ({errors}) where not (error <= {LIMITS[dtype]})"
    worst = f"{worst} order by isnan(error) desc, error desc limit 1"
    for seq, layer, error, part in store.execute(worst).fetchall():
        raise UserError(
            f"Sequence {seq}, layer {layer}: the parts of the {part} miss the model's own "
            f"output by {error:.2g}, above the {LIMITS[dtype]:g} allowed in {dtype}. "
            "The numbers of this model cannot be trusted and are not published."
        )


def faults(path: Path) -> Iterator[str]:
    """Yield the faults of a file, one sentence each; none if it is complete and sound."""
    if not path.is_file():
        yield f"{path}: there is no such file."
        return
    try:
        with opened(path) as store:
            yield from _faults_inside(store)
    except (OtherSchema, Locked, TooSlow) as error:
        yield str(error)
    except (BrokenContract, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        yield f"{path} is damaged or no file of Mixscope: {reason} Build it again."


def _faults_inside(store: DuckDBPyConnection) -> Iterator[str]:
    stored = store.execute("select name, n_rows, checksum from stored.manifest").fetchall()
    promised = {name: {"n_rows": n_rows, "checksum": sum} for name, n_rows, sum in stored}
    for table in (table for table in every_table() if table != MANIFEST):
        if (expected := promised.get(name := table.name)) is None:
            yield f"{name}: the manifest does not name it. Build the file again."
        elif (found := contents(store, name)) != expected:
            yield (
                f"{name}: {found['n_rows']} rows are not the {expected['n_rows']} that "
                "were stored, or their content has changed. Build the file again."
            )
    for table in every_table():
        try:
            assert_laws(store, table)
            assert_unique(store, table)
        except BrokenLaw as fault:
            yield str(fault)
    try:
        assert_parts_add_up(store)
    except UserError as fault:
        yield str(fault)
    ((dtype,),) = store.execute("select dtype from run").fetchall()
    for law, sql in CROSS_LAWS.items():
        values = {"tolerance": LIMITS[dtype]} if "$tolerance" in sql else {}
        if groups := store.execute(sql, values).fetchall()[0][0]:
            yield f"{groups} group(s) break the law that {law}. Build the file again."
