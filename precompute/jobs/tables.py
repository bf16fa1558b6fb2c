"""Merging of shards into whole tables, each in its own file, and fits, which read such tables.

Each table is merged once: a run that adds a statistic merges that alone. Tables whose corpus is too
large for the file are cut.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from shutil import rmtree

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from analysis.needs import Setting
from analysis.statistics import corpus
from analysis.statistics.base.tables import Fit, FitContext, Table
from analysis.statistics.corpus import CORPUS, SEQUENCES, TOKENS, Sample
from analysis.statistics.question import quoted, quoted_files
from analysis.token_types import TOKEN_TYPES
from precompute.jobs.plan import Bounds, Plan, block_of, sample_order
from precompute.jobs.shards import (
    finish_shard,
    named_when_whole,
    names_in,
    seal,
    storage_of,
    unfinished_name,
)
from precompute.passes import STATISTICS

_ROWS = 122_880  # rows written at a time: a database's row group

ROWS: Mapping[Table, str] = {
    SEQUENCES: "select index as seq, len(ids) as n_tokens, text from part",
    TOKENS: f"""
        select seq, pos, ids[pos + 1] as token_id, tokens[pos + 1] as token,
            enum_range(null::enum ({quoted(*TOKEN_TYPES)}))[token_types[pos + 1] + 1]
                ::enum ({quoted(*TOKEN_TYPES)}) as token_type,
            segments[pos + 1] as segment, masked[pos + 1] as is_masked
        from (select *, index as seq, unnest(range(len(ids))) as pos from part)""",
    corpus.WORDS: """
        select seq, word, sentences[word + 1] as sentence, forms[word + 1] as form,
            spaces[word + 1] as space_after, word_spans[2 * word + 1] as first_pos,
            word_spans[2 * word + 2] - 1 as last_pos,
            parts_of_speech[word + 1] as part_of_speech, relations[word + 1] as relation,
            nullif(governors[word + 1], -1) as governor,
            list_bool_or(masked[first_pos + 1:last_pos + 1]) as is_masked
        from (
            select * exclude (words), annotation.*, index as seq,
                unnest(range(len(annotation.forms))) as word
            from part)""",
    corpus.MENTIONS: """
        select seq, mention, of.first as first_word, of.last as last_word,
            of.head as head_word, of.cluster as cluster,
            of.kind::enum ('pronoun', 'proper', 'nominal') as mention_type,
            list_bool_or(masked[word_spans[2 * of.first + 1] + 1:word_spans[2 * of.last + 2]])
                as is_masked
        from (
            select *, index as seq, unnest(annotation.mentions) as of,
                unnest(range(len(annotation.mentions))) as mention
            from part)""",
}
"""The rows of each table of the corpus, as SQL over a part of its index."""
VOCABULARY_ROWS = "select token_id, min(token) as token from token group by token_id"
"""The rows of `vocabulary`, from those of `token`."""
Config = dict[str, str | bool | int | float | list[str]]


@dataclass(frozen=True)
class Cut:
    """SQL that restricts shards, a query in place of the table's merge, and facts for the file."""

    only: str = ""
    merge: str = ""
    facts: dict[str, str] = field(default_factory=dict)


WHOLE = Cut()


def finish_table(database: DuckDBPyConnection, plan: Plan, name: str) -> None:
    """Write the file of a table unless it exists, in a workspace in which nothing stays; compute
    the shard of a fit first, for which every table that it needs must exist."""
    table = STATISTICS[name]
    if table.made_by is not None:
        make = partial(_fitted, database, plan, table, table.made_by)
        finish_shard(plan.shard_folder(table), 0, make)
    if not plan.table_file(table).exists():
        with _room(database, threads=_threads()) as store:
            rows = view_of_shards(store, table, plan.shards(table))
            cut = cut_of(store, plan, table, rows, pieces(store, table, rows))
            merge(store, table, plan.shards(table), plan.table_file(table), cut=cut)


def finish_corpus(plan: Plan) -> None:
    """Write the files of `CORPUS`, with one part in memory at a time."""
    with workspace(plan.folder) as store:
        for table in CORPUS:
            path, query = plan.corpus_file(table), ROWS.get(table, VOCABULARY_ROWS)
            if path.exists():
                continue
            of_tokens = f"with token as ({_in_file(plan.corpus_file(TOKENS))})"
            of_parts = (f"with part as ({_in_file(part)})" for part in plan.corpus.files)
            sources = of_parts if table in ROWS else (of_tokens,)
            order = ", ".join(column.name for column in table.key)
            _write(path, table, (f"{given} {query} order by {order}" for given in sources), store)


def merge(
    store: DuckDBPyConnection, table: Table, shards: list[Path], path: Path, *, cut: Cut = WHOLE
) -> None:
    """Merge shards into a table and write it, sorted, piece by piece."""
    rows = view_of_shards(store, table, shards)
    columns = ", ".join(f'"{c.name}"' for c in table.columns)
    order = ", ".join(f"{name} nulls last" for name in table.sorted_by)
    selected = _names_as_numbers(store, table, rows)
    merged = (
        f"with shards as ({selected} from {rows} {cut.only} where {piece}) "
        f"select {columns} from ({cut.merge or table.merge}) order by {order}"
        for piece in pieces(store, table, rows)
    )
    _write(path, table, merged, store, cut.facts)


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
    sizes = f"select seq, n_tokens as n {_in_file(plan.corpus_file(SEQUENCES))}"
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
    return Cut("semi join kept using (seq)", facts=corpus.sample_facts(table, sample))


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
    return Cut(only, facts=corpus.rarest_facts(table, least))


def view_of_shards(store: DuckDBPyConnection, table: Table, shards: list[Path]) -> str:
    """Create a view of all rows of a table's shards and return its name."""
    rows = f"from read_parquet([{quoted_files(*map(str, shards))}])"
    store.execute(f"create or replace temp view {table.name}_shards as {rows}")
    return f"{table.name}_shards"


def _names_as_numbers(store: DuckDBPyConnection, table: Table, rows: str) -> str:
    """Return SQL that selects all columns, names by their place in the alphabet.

    DuckDB sorts and groups these twice as fast as strings, in the same order.
    """
    names = names_in(table.shard_schema)
    for name in names:
        of_column = f"select distinct {name} from {rows} where {name} is not null order by 1"
        store.execute(f"create or replace temp type {name}_in_order as enum ({of_column})")
    replaced = ", ".join(f"{name}::{name}_in_order as {name}" for name in names)
    return f"select * replace ({replaced})" if names else "select *"


def facts_of(file: Path) -> dict[str, str]:
    """Return the facts of a table's file about left-out rows."""
    metadata = pq.read_schema(file).metadata or {}
    return {name.decode(): value.decode() for name, value in metadata.items()}


def pieces(store: DuckDBPyConnection, table: Table, rows: str) -> list[str]:
    """Return conditions that cut a table into parts that fit into memory and share no key."""
    if not table.piece:
        return ["true"]
    values = f"select distinct {table.piece} from {rows} order by 1"
    return [f"{table.piece} = {value}" for (value,) in store.execute(values).fetchall()]


@contextmanager
def workspace(folder: Path) -> Iterator[DuckDBPyConnection]:
    """Open a database in memory that spills into a new folder below `folder`; delete both after.

    Opening takes 15 ms, so all tables of a job, or of a process that does all jobs, share one.
    """
    spill = unfinished_name(folder / "spill")
    try:
        with duckdb.connect(config=database_config() | {"temp_directory": str(spill)}) as store:
            yield store
    finally:
        rmtree(spill, ignore_errors=True)


@contextmanager
def _room(database: DuckDBPyConnection, *, threads: int) -> Iterator[DuckDBPyConnection]:
    """Open an empty database within a workspace, the only one at a time, and drop it at the end."""
    with database.cursor() as store:
        store.execute(f"set threads = {threads}")
        store.execute("attach ':memory:' as room; use room")
        try:
            yield store
        finally:
            store.execute("use memory; detach room")


def database_config() -> Config:
    """Return the settings of a database for writing.

    Its memory follows from its threads, whatever the corpus: 125 MB of each is the least that it
    sorts with. Larger sorts and groups spill to disk.
    """
    return {
        "memory_limit": f"{max(250, 125 * _threads())}MB",
        "threads": str(_threads()),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }


def _threads() -> int:
    return min(pa.cpu_count(), os.cpu_count() or 1, 8)


def _fitted(database: DuckDBPyConnection, plan: Plan, table: Table, fit: Fit) -> pa.Table:
    """Return the rows of a fit, from a database with the tables that it requires alone."""
    declared = table.depends_on
    ranks = plan.frequencies if Setting.FREQUENCIES in declared else None
    context = FitContext(
        seed=plan.facts.seed,
        order=plan.facts.layer_order,
        frequency_ranks={"file": ranks.ranks} if ranks else {},
        word_vectors=plan.word_vectors if Setting.WORD_VECTORS in declared else None,
        documents=plan.corpus.units() if len(plan.corpus) <= plan.bounds.blocks else None,
    )
    required = [STATISTICS[name] for name in table.requires]
    # sums of floats depend on the order of their terms, which is that of threads
    with _room(database, threads=1) as store:
        store.execute("create schema stored; create schema kept")
        for of_corpus in CORPUS:
            rows_of_file = _in_file(plan.corpus_file(of_corpus))
            store.execute(f"create view stored.{of_corpus.name} as {rows_of_file}")
        register_texts(store, plan)
        register_blocks(store, plan)
        for statistic in required:
            name, file = statistic.name, plan.table_file(statistic)
            of_shards = f"from {view_of_shards(store, statistic, plan.shards(statistic))}"
            is_sample = statistic.of_sequences and facts_of(file)
            rows = of_shards if is_sample else _in_file(file)
            store.execute(f"create view stored.{name} as {rows}")
            # for fits that need all numbers at once
            store.execute(f"create view kept.{name} as {_in_file(file)}")
        for readable in (*CORPUS, *required):
            for view in readable.all_views:
                store.execute(f"create view {view.name} as {view.sql}")
        return fit(table, store, context)


def _in_file(path: Path) -> str:
    return f"from read_parquet({quoted_files(str(path))})"


def _write(
    path: Path,
    table: Table,
    queries: Iterable[str],
    store: DuckDBPyConnection,
    facts: dict[str, str] | None = None,
) -> None:
    """Write the rows of queries, one after the other, into a sealed Parquet file with facts."""
    schema = table.schema.with_metadata(facts)
    with named_when_whole(path) as file:
        with pq.ParquetWriter(file, schema, **storage_of(schema)) as writer:
            for query in queries:
                for batch in store.sql(query).to_arrow_reader(_ROWS):
                    rows = pa.Table.from_batches([batch])
                    writer.write_table(rows.select(schema.names).cast(schema))
        seal(file, path)
