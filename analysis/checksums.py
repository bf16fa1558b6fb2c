"""Row counts and checksums of stored tables, to detect changes since a file was built."""

from duckdb import DuckDBPyConnection


def contents(store: DuckDBPyConnection, name: str) -> dict[str, int]:
    """Count the rows of a stored table and compute a checksum over all of them.

    The hash of a row is hashed again: where one constant column becomes another, the hashes of all
    rows change by the same bits, which would cancel in an even number of rows.
    """
    n_rows, checksum = store.execute(
        f"select count(*), coalesce(bit_xor(hash(hash(row))), 0) from stored.{name} as row"
    ).fetchall()[0]
    return {"n_rows": n_rows, "checksum": checksum}


def changed_tables(store: DuckDBPyConnection, names: list[str]) -> list[str]:
    """Return the stored tables whose contents differ from the manifest."""
    promised = store.execute("select name, n_rows, checksum from stored.manifest").fetchall()
    known = {name: {"n_rows": n_rows, "checksum": sum} for name, n_rows, sum in promised}
    return [name for name in names if contents(store, name) != known.get(name)]
