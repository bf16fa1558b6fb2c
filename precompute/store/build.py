"""Building of one DuckDB file from shards, with its own description and checks."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.checksums import contents
from analysis.contracts import every_table
from analysis.statistics import corpus
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import Sample, sample_facts
from analysis.statistics.question import quoted, quoted_files
from precompute.corpora.images.pictures import png
from precompute.jobs.plan import Plan
from precompute.jobs.shards import unfinished_name
from precompute.jobs.tables import Config, database_config, facts_of, register_texts
from precompute.progress import Begun, Finished, OnEvent, ignore
from precompute.store.check import assert_laws, assert_parts_add_up

IMAGES = 64
"""Images in memory at a time."""


def build(
    plan: Plan,
    output: Path,
    run: dict,
    facts: dict[str, str],
    *,
    before_publishing: Callable[[], None] = lambda: None,
    on_event: OnEvent = ignore,
) -> None:
    """Build the file, with the one row of `run` and the facts of `provenance`, beside its name and
    rename it when complete; readers of the old one go on.

    What is done `before_publishing` may raise, which leaves the old file, as a broken law does.
    """
    unfinished = unfinished_name(output)
    on_event(Begun("file", total=len(plan.passes)))
    with _new_file(unfinished) as store:
        store.execute("create schema stored")
        declare(store, every_table())
        _add_dicts(store, corpus.RUN, [run])
        known = sorted((facts | _left_out(store, plan)).items())
        _add_dicts(store, corpus.PROVENANCE, [{"name": of, "value": value} for of, value in known])
        for table in corpus.CORPUS:
            add_table(store, table, plan.corpus_file(table), _KEPT.get(table, ""))
        _add_rows(store, corpus.IMAGES, image_rows(plan))
        for table in plan.passes:
            add_table(store, table, plan.table_file(table))
            on_event(Finished())
        assert_parts_add_up(store)
        names = [table.name for table in every_table() if table != corpus.MANIFEST]
        counted = [{"name": name, **contents(store, name)} for name in sorted(names)]
        _add_dicts(store, corpus.MANIFEST, counted)
        store.execute("checkpoint")
        before_publishing()
    with unfinished.open("r+b") as file:  # Windows flushes what may be written
        os.fsync(file.fileno())
    output.with_name(f"{output.name}.wal").unlink(missing_ok=True)
    os.replace(unfinished, output)


_WITH_TEXT = "semi join texts using (seq)"
_KEPT = {
    corpus.TOKENS: _WITH_TEXT,
    corpus.WORDS: _WITH_TEXT,
    corpus.MENTIONS: _WITH_TEXT,
    corpus.SEQUENCES: "left join (select seq, true as kept from texts) using (seq) "
    "select seq, n_tokens, "
    f"if(kept, left(text, {corpus.LETTERS_A_TOKEN} * n_tokens), null) as text",
}
"""SQL that restricts the tables of the corpus to the rows that a file keeps."""


def _left_out(store: DuckDBPyConnection, plan: Plan) -> dict[str, str]:
    """Return the file's facts on left-out rows; `texts` holds the sequences with stored text."""
    texts = Sample(register_texts(store, plan), len(plan.corpus))
    facts = [facts_of(plan.table_file(table)) for table in plan.passes]
    facts += [sample_facts(table, texts) for table in _KEPT if texts.kept < texts.of]
    return {name: value for of_table in facts for name, value in of_table.items()}


def declare(store: DuckDBPyConnection, tables: Sequence[Table]) -> None:
    """Create empty tables with their views, and comments on everything that has a name.

    It is one transaction: a commit for each table would take longer than all the rest.
    """
    store.begin()
    for table in tables:
        store.register("empty", table.schema.empty_table())
        store.execute(f"create table stored.{table.name} as from empty")
        store.unregister("empty")
    for table in tables:
        comment_on(store, "table", f"stored.{table.name}", table.grain, table.columns)
        for view in table.all_views:
            store.execute(f"create view {view.name} as {view.sql}")
            comment_on(store, "view", view.name, view.grain, view.columns)
    store.commit()


def comment_on(
    store: DuckDBPyConnection, kind: str, name: str, grain: str, columns: Iterable[Any]
) -> None:
    """Store the meaning of a table or view as comments, and meaning and unit of its columns."""
    store.execute(f"comment on {kind} {name} is {quoted(grain)}")
    for column in columns:
        comment = quoted(f"{column.definition} ({column.unit})")
        store.execute(f"comment on column {name}.{column.name} is {comment}")


def add_table(store: DuckDBPyConnection, table: Table, file: Path, kept: str = "") -> None:
    """Add the rows of a table from its file, all or those that SQL has kept, and check its laws."""
    rows = f"from read_parquet({quoted_files(str(file))}) {kept}"
    store.execute(f"insert into stored.{table.name} by name {rows}")
    assert_laws(store, table)


def image_rows(plan: Plan) -> Iterator[pa.Table]:
    """Yield the rows of `image`, a few at a time, since pictures are large; none for texts."""
    if (reader := plan.images) is None:
        return
    sequences, layout = iter(plan.corpus), reader.layout
    grid = {"grid_rows": layout.rows, "grid_columns": layout.columns}
    grid["first_patch"] = len(layout.special)
    while some := list(islice(sequences, IMAGES)):
        rows = []
        for sequence in some:
            picture, coverage = sequence.picture, reader.coverage(sequence.picture)
            shown = png(reader.shown(picture)) if sequence.index in plan.kept else None
            row = {"seq": sequence.index, "picture": shown, "coverage": coverage} | grid
            rows.append(row | {of: getattr(picture, of) for of in ("name", "width", "height")})
        yield pa.Table.from_pylist(rows, schema=corpus.IMAGES.schema)


def _add_dicts(store: DuckDBPyConnection, table: Table, rows: list[dict]) -> None:
    _add_rows(store, table, [pa.Table.from_pylist(rows, schema=table.schema)])


def _add_rows(store: DuckDBPyConnection, table: Table, parts: Iterable[pa.Table]) -> None:
    """Add rows in parts, with one part in memory at a time."""
    for rows in parts:
        store.register("rows", rows)
        store.execute(f"insert into stored.{table.name} from rows")
        store.unregister("rows")
    assert_laws(store, table)


def file_config() -> Config:
    """Return the settings of a file's database, readable by DuckDB 1.4 and newer."""
    return database_config() | {"storage_compatibility_version": "v1.4.0"}


@contextmanager
def _new_file(path: Path) -> Iterator[DuckDBPyConnection]:
    """Create a database under a temporary name; delete it on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with duckdb.connect(str(path), config=file_config()) as store:
            yield store
    except BaseException:
        for left in (path, path.with_name(f"{path.name}.wal")):
            with suppress(OSError):  # the first error is the one to report
                left.unlink(missing_ok=True)
        raise
