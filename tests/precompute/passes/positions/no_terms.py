"""A store of a model whose scores have no terms of offsets."""

from duckdb import DuckDBPyConnection

from analysis.tables.positions.offset_term import TABLE


def have_no_terms(store: DuckDBPyConnection) -> None:
    """The table of these terms is there, and empty."""
    store.execute("create schema stored")
    store.register("none", TABLE.schema.empty_table())
    store.execute("create table stored.offset_term as from none")
