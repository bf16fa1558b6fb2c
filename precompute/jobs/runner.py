"""Running of a plan's jobs: first those of the corpus, then those of the tables."""

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.errors import UserError
from analysis.statistics.table import Table
from precompute.corpora.index.corpus import n_pairs
from precompute.corpora.sequence import Sequence as Input
from precompute.jobs.memory import most_pairs, return_freed_memory
from precompute.jobs.plan import Job, Plan, batches
from precompute.jobs.seal import is_intact, set_aside
from precompute.jobs.shards import counted_from_1, finish_shard, merged
from precompute.jobs.tables import finish_corpus, finish_table, workspace
from precompute.jobs.writing import Write, at_once, beside
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import rows_of_batch, rows_of_weights
from precompute.passes.layers import Batch, batch_of
from precompute.progress.events import Advanced, Begun, Finished, OnEvent, Stage, ignore
from precompute.progress.share import sharing

Runner = Callable[[Plan, LoadedModel, list[Job], OnEvent], None]


def finish_plan(plan: Plan, model: LoadedModel, runner: Runner, on_event: OnEvent = ignore) -> None:
    """Compute every missing file of the plan; replace a damaged one.

    Args:
        on_event: receives the stages `weights`, `sequences` and `tables`, and their jobs.

    Raises:
        UserError: if one is damaged again as soon as it is written.
    """
    return_freed_memory()
    finish_weights(plan, model, on_event)
    run = partial(runner, plan, model)
    _finish(plan, range(len(plan.corpus.job_sizes)), run, "sequences", on_event)
    _set_aside(list(filter(_is_damaged, plan.corpus_files)))
    finish_corpus(plan)
    _finish(plan, plan.tables, run, "tables", on_event)


def finish_weights(plan: Plan, model: LoadedModel, on_event: OnEvent = ignore) -> None:
    """Compute the passes over the model alone, in this process."""
    tables = [table for table in plan.passes if table.of_model]
    _set_aside([shard for table in tables for shard in plan.shards(table) if _is_damaged(shard)])
    waiting = [table for table in tables if not plan.shards(table)[0].exists()]
    n_found = len(tables) - len(waiting)
    on_event(Begun("weights", len(tables), n_found, n_found))
    for table in waiting:
        finish_shard(plan.shard_folder(table), 0, partial(_of_weights, table, model))
        on_event(Finished(table.name))


def _is_damaged(file: Path) -> bool:
    return file.exists() and not is_intact(file)


def _finish(
    plan: Plan,
    jobs: Sequence[Job],
    run: Callable[[list[Job], OnEvent], None],
    stage: Stage,
    on_event: OnEvent,
) -> None:
    """Run the jobs with missing or damaged files, and check their files again."""
    for job in jobs:
        _set_aside(plan.damaged(job))
    there = {job: [file.exists() for file in plan.files(job)] for job in jobs}
    waiting = [job for job in jobs if not all(there[job])]
    total, sizes = sum(map(plan.size, jobs)), {job: plan.size(job) for job in waiting}
    n_found, n_shards = total - sum(sizes.values()), sum(map(sum, there.values()))
    on_event(Begun(stage, total, n_found, n_shards, sizes, plan.costs(waiting)))
    for is_again in (False, True):
        if not waiting:
            return
        run(waiting, on_event)
        damaged = {job: plan.damaged(job) for job in waiting}
        waiting = [job for job in waiting if _set_aside(damaged[job])]
        if is_again and waiting:
            raise UserError(
                f"{damaged[waiting[0]][0]} was computed again and is damaged again. The disk or "
                "the memory is at fault: rerun the command with --output on another disk."
            )


def _set_aside(damaged: list[Path]) -> list[Path]:
    """Rename damaged files so that nothing reads them, and return the files."""
    for file in damaged:
        print(
            f"{file} is damaged: it is kept as {set_aside(file).name} and computed again.",
            file=sys.stderr,
        )
    return damaged


def run_local(plan: Plan, model: LoadedModel, jobs: list[Job], on_event: OnEvent) -> None:
    """Run jobs one by one in this process, writing the shards of one while computing the next."""
    with beside() as write, workspace(plan.folder) as database:
        for job in jobs:
            finish_job(plan, lambda: model, job, on_event, write, database)


def finish_job(
    plan: Plan,
    model: Callable[[], LoadedModel],
    job: Job,
    on_event: OnEvent,
    write: Write = at_once,
    database: DuckDBPyConnection | None = None,
) -> None:
    """Compute every missing file of one job.

    Args:
        write: writer of sequence shards; tables are written when this returns.
        database: a workspace, in which nothing stays; without one a table opens its own.
    """
    if isinstance(job, int):
        _finish_sequences(plan, model, job, on_event, write)
        return
    on_event(Advanced(job, 0))
    with nullcontext(database) if database else workspace(plan.folder) as store:
        finish_table(store, plan, job)
    on_event(Finished(job))


def _finish_sequences(
    plan: Plan, model: Callable[[], LoadedModel], index: int, on_event: OnEvent, write: Write
) -> None:
    """Compute missing shards of some sequences: each batch is traced once for all passes."""
    missing = plan.missing(index)
    if not missing:
        return
    sequences, parts = plan.corpus.job(index), list[list[pa.Table]]()
    cost, spent, n_layers = _cost(plan, sequences), 0.0, len(model().layers)
    for batch in batches(sequences, most_pairs(model())):
        of_batch = _cost(plan, batch)
        tell = partial(_tell_share, on_event, index, spent / cost, of_batch / cost)
        again = n_layers * (of_batch / n_pairs(batch) - 1)
        watch, on_again = sharing(len(missing), n_layers, tell, again)
        given = replace(batch_for(plan, model(), batch), on_again=on_again)
        filled = rows_of_batch(missing, model(), given, watch)
        parts.append([*filled.values()])
        spent += of_batch
    layers = model().numbers

    def finish() -> None:
        _write(plan, missing, index, parts, layers)
        on_event(Finished(index))

    write(finish)


def _cost(plan: Plan, sequences: Iterable[Input]) -> float:
    return plan.cost({sequence.index: len(sequence) for sequence in sequences})


def _tell_share(on_event: OnEvent, job: int, before: float, of_batch: float, share: float) -> None:
    """Report a share of a batch as that of its job."""
    on_event(Advanced(job, before + of_batch * share))


def _write(
    plan: Plan,
    tables: tuple[Table, ...],
    index: int,
    parts: list[list[pa.Table]],
    layers: tuple[int, ...],
) -> None:
    """Write the shard of every table, from its part of every batch.

    Args:
        layers: numbers of the layers in the model.
    """
    for table, rows in zip(tables, zip(*parts, strict=True), strict=True):
        shard = partial(shard_of, table, list(rows), layers)
        finish_shard(plan.shard_folder(table), index, shard)


def _of_weights(table: Table, model: LoadedModel) -> pa.Table:
    return counted_from_1(rows_of_weights(table, model.weights), model.numbers)


def shard_of(table: Table, rows: list[pa.Table], layers: tuple[int, ...]) -> pa.Table:
    """Return the rows of a shard, from those of its batches."""
    return counted_from_1(merged(table, rows), layers)


def batch_for(plan: Plan, model: LoadedModel, sequences: Sequence[Input]) -> Batch:
    """Return a batch with the settings of a plan."""
    controlled = partial(model.stream_controlled, seed=plan.facts.seed)
    return batch_of(
        model,
        sequences,
        seed=plan.facts.seed,
        hidden_budget=plan.hidden_budget,
        exemplars=plan.exemplars,
        checked=plan.checked,
        run_again=plan.run_again,
        type_means=partial(plan.type_means, model),
        controlled=controlled if model.reading.places.can_change else None,
        kept=plan.kept,
    )
