"""Costs of tables and fits, measured on copies of a few sequences' rows."""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.contracts import groups
from analysis.statistics.table import SEQUENCE, Table
from precompute.corpora.index.write import indexed
from precompute.corpora.reading import Reading
from precompute.jobs.bounds import evenly_spaced
from precompute.jobs.plan import Plan
from precompute.jobs.runner import finish_weights, shard_of
from precompute.jobs.shards import finish_shard
from precompute.jobs.tables import finish_corpus, finish_table, workspace
from precompute.models.loaded_model import LoadedModel
from precompute.planning.probes import Probes, n_chosen

_FEW, _MANY = 12, 64
"""Sequences of two rehearsals: enough for intervals, and the most that are copied."""
_LEAST_FACTOR = 0.99
"""Copies of a sequence's rows differ by a factor of at least this, or they would compress."""
_READ = 128
"""Most sequences whose pairs of tokens are counted."""
CORPUS, WEIGHTS = "corpus", "weights"
"""Names in place of a table's: tables of the corpus itself; all passes over weights."""


@dataclass(frozen=True)
class Finished:
    """Processor time of tables and fits, and bytes of their files, by the table's name."""

    seconds: dict[str, float]
    bytes: dict[str, int]


def rehearsed(plan: Plan, model: LoadedModel, probes: Probes, folder: Path) -> Finished:
    """Estimate what the tables of a plan take, once the passes over the corpus are done.

    Rows of the probes are copied until there are as many sequences as in the corpus, or `_MANY`.
    From there on, costs grow as from a rehearsal of a few, which comes first, so that it
    pays for what is loaded once. Copies have no new pairs of tokens, so that the size of their
    tables grows with the number of different pairs.
    """
    n = len(plan.corpus)
    few = _rehearse(plan, model, probes, folder / "few", _FEW) if n > _MANY else None
    many = _rehearse(plan, model, probes, folder / "many", min(n, _MANY))
    pairs = _growth_of_pairs(plan, probes)
    with_rows = {table.name: _n_with_rows(plan, table, probes) for table in plan.passes}

    def grown(name: str, least: float, most: float) -> float:
        n_rows = with_rows.get(name, n)
        if n_rows <= _MANY:
            return most
        steps = (min(n_rows, plan.bounds.blocks) - _FEW) / (_MANY - _FEW)
        return max(0.0, least + (most - least) * steps)

    fewer = few or many
    seconds = {name: grown(name, fewer.seconds[name], most) for name, most in many.seconds.items()}
    of_pairs = groups()["pairs"]
    sizes = {
        name: int(most * pairs if name in of_pairs else grown(name, fewer.bytes[name], most))
        for name, most in many.bytes.items()
    }
    return Finished(seconds, sizes)


def _n_with_rows(plan: Plan, table: Table, probes: Probes) -> int:
    """Return the number of sequences of which a table has rows."""
    of_all = not table.of_layers or probes.batch.rows[table.name].num_rows
    return len(plan.corpus) if of_all else n_chosen(plan, table)


def _rehearse(
    plan: Plan, model: LoadedModel, probes: Probes, folder: Path, n_sequences: int
) -> Finished:
    """Finish the tables of a corpus of copies."""
    copies = [
        replace(sequence, index=index, document=None)
        for index, sequence in enumerate(islice(cycle(probes.batch.sequences), n_sequences))
    ]
    reading = Reading("copies", {}, lambda first: iter(copies[first:]), lambda: "0" * 64)
    reading = replace(reading, is_images=plan.corpus.is_images)
    small = replace(
        plan,
        folder=folder,
        corpus=indexed(reading, folder),
        kept=evenly_spaced(range(n_sequences), len(plan.kept)),
    )
    seconds = defaultdict[str, float](float)
    started = time.process_time()
    finish_weights(small, model)
    seconds[WEIGHTS] = time.process_time() - started
    for table in small.passes:
        if table.of_layers:
            rows = [*_copied(plan, table, probes, n_sequences)]
            started, n_jobs = time.process_time(), len(small.corpus.job_sizes)
            for job in range(n_jobs):
                of_job = rows[job::n_jobs] or [table.shard_schema.empty_table()]
                compute = partial(shard_of, table, of_job, model.numbers)
                finish_shard(small.shard_folder(table), job, compute)
            seconds[table.name] += time.process_time() - started
    started = time.process_time()
    finish_corpus(small)
    seconds[CORPUS] = time.process_time() - started
    with workspace(folder) as database:
        for name in small.tables:
            started = time.process_time()
            finish_table(database, small, name)
            seconds[name] += time.process_time() - started
    sizes = {table.name: _size(small.table_file(table)) for table in small.passes}
    sizes[WEIGHTS] = 0
    sizes[CORPUS] = sum(map(_size, small.corpus_files))
    return Finished(dict(seconds), sizes)


def _size(file: Path) -> int:
    """Return the bytes of a Parquet file; 0 without rows."""
    return file.stat().st_size if pq.read_metadata(file).num_rows else 0


def _copied(plan: Plan, table: Table, probes: Probes, n_sequences: int) -> Iterator[pa.Table]:
    """Yield rows of a table as those of so many sequences."""
    filled = probes.batch if probes.batch.rows[table.name].num_rows else probes.chosen
    rows, known = filled.rows[table.name], [sequence.index for sequence in filled.sequences]
    n_sequences = min(n_sequences, _n_with_rows(plan, table, probes))
    if SEQUENCE.name not in rows.column_names:
        yield from [rows] * -(-n_sequences // len(known))
        return
    of_sequence = {index: rows.filter(pc.field(SEQUENCE.name) == index) for index in known}
    factors = np.random.default_rng(0).uniform(_LEAST_FACTOR, 1, n_sequences)
    for new, index in enumerate(islice(cycle(known), n_sequences)):
        yield _copy(of_sequence[index], new, factors[new])


def _copy(rows: pa.Table, index: int, factor: float) -> pa.Table:
    """Return a sequence's rows as those of another one, with all measures smaller by a factor."""
    columns = {
        name: _smaller(column.combine_chunks(), factor)
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    }
    columns[SEQUENCE.name] = np.full(rows.num_rows, index)
    return pa.table(columns, schema=rows.schema)


def _smaller(column: pa.Array, factor: float) -> pa.Array:
    """Return floats, or lists of floats, times a factor; other columns as they are."""
    if pa.types.is_floating(column.type):
        return pc.call_function("multiply", [column, pa.scalar(factor, column.type)])
    if isinstance(column, pa.ListArray):
        values = _smaller(column.values, factor)
        return pa.ListArray.from_arrays(
            column.offsets, values, type=column.type, mask=column.is_null()
        )
    return column


def _growth_of_pairs(plan: Plan, probes: Probes) -> float:
    """Return how many times more different pairs of tokens the corpus has than the probes."""
    here = _n_pairs([sequence.ids for sequence in probes.batch.sequences])
    n = len(plan.corpus)
    read = [sequence.ids for sequence in islice(plan.corpus, min(n, _READ))]
    whole, half = _n_pairs(read), _n_pairs(read[: -(-len(read) // 2)])
    exponent = np.log2(whole / half) if len(read) > 1 else 1.0  # by Heaps' law
    return whole * (n / len(read)) ** exponent / here


def _n_pairs(texts: list[np.ndarray]) -> int:
    """Return the number of different pairs of tokens."""
    codes = [(ids[:, None].astype(np.int64) * 2**32 + ids[None, :]).ravel() for ids in texts]
    return len(np.unique(np.concatenate([np.unique(code) for code in codes])))
