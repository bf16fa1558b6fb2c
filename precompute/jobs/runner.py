"""Running of a plan's jobs, first of the corpus, then of tables; want of disk or memory is told."""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.errors import UserError
from analysis.statistics.corpus import CORPUS
from precompute.corpora.sequence import Sequence as Input
from precompute.jobs.memory import most_pairs, return_freed_memory
from precompute.jobs.plan import Job, Plan, batches
from precompute.jobs.shards import finish_shard, is_intact, merged, set_aside
from precompute.jobs.tables import finish_corpus, finish_table, workspace
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import rows_of_batch, rows_of_weights
from precompute.passes.layers import Batch, batch_of
from precompute.progress import Begun, Finished, OnEvent, Stage, ignore

OnFinished = Callable[[Job], object]
Run = Callable[[list[Job], OnFinished], None]
Runner = Callable[[Plan, LoadedModel, list[Job], OnFinished], None]
"""Function that runs jobs and tells each as it is finished, its files being on disk."""
Write = Callable[[Callable[[], object]], object]
"""Function that takes a piece of writing and performs it, at once or soon."""
MOST_WAITING = 1
"""Most pieces in memory: computing waits while as many are not written yet."""


def finish_plan(plan: Plan, model: LoadedModel, runner: Runner, on_event: OnEvent = ignore) -> None:
    """Compute every missing file of the plan; replace a damaged one.

    Raises:
        UserError: if one is damaged again as soon as it is written.
    """
    return_freed_memory()
    finish_weights(plan, model, on_event)
    run = partial(runner, plan, model)
    _finish(plan, range(len(plan.corpus.job_sizes)), run, "sequences", on_event)
    _set_aside(list(filter(_is_damaged, map(plan.corpus_file, CORPUS))))
    finish_corpus(plan)
    _finish(plan, plan.tables, run, "tables", on_event)


def finish_weights(plan: Plan, model: LoadedModel, on_event: OnEvent = ignore) -> None:
    """Compute the passes over the model alone, in this process."""
    tables = [table for table in plan.passes if table.of_model]
    _set_aside([shard for table in tables for shard in plan.shards(table) if _is_damaged(shard)])
    waiting = [table for table in tables if not plan.shards(table)[0].exists()]
    n_found = len(tables) - len(waiting)
    on_event(Begun("weights", len(tables), n_found))
    for table in waiting:
        finish_shard(plan.shard_folder(table), 0, partial(rows_of_weights, table, model.weights))
        on_event(Finished())


def _is_damaged(file: Path) -> bool:
    return file.exists() and not is_intact(file)


def _finish(plan: Plan, jobs: Sequence[Job], run: Run, stage: Stage, on_event: OnEvent) -> None:
    """Run the jobs with missing or damaged files, and check their files again."""
    for job in jobs:
        _set_aside(plan.damaged(job))
    waiting = [job for job in jobs if not all(file.exists() for file in plan.files(job))]
    total, costs = sum(map(plan.size, jobs)), plan.costs(waiting)
    found = total - sum(map(plan.size, waiting))
    on_event(Begun(stage, total, found, sum(costs.values())))

    def tell(job: Job) -> None:
        files = plan.files(job)
        n_bytes = sum(file.stat().st_size for file in files if file.exists())
        on_event(Finished(plan.size(job), costs.get(job, 0.0), n_bytes))

    for is_again in (False, True):
        if not waiting:
            return
        run(waiting, tell)
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


@contextmanager
def beside() -> Iterator[Write]:
    """Write in a separate thread, one piece after the other in the given order.

    At the end everything is written. An error in a piece is raised when the next one is given, or
    at the end; later pieces are not begun, nor are any if computing fails. A piece that was begun
    is finished in either case.
    """
    waiting: deque[Future] = deque()

    def look(at_most: int) -> None:
        while waiting and (len(waiting) > at_most or waiting[0].done()):
            waiting.popleft().result()

    def write(work: Callable[[], object]) -> None:
        look(at_most=MOST_WAITING - 1)
        waiting.append(pool.submit(work))

    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writing")
    try:
        yield write
        look(at_most=0)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def run_local(plan: Plan, model: LoadedModel, jobs: list[Job], on_finished: OnFinished) -> None:
    """Run jobs one by one in this process, writing the shards of one while computing the next."""
    with beside() as write, workspace(plan.folder) as database:
        for job in jobs:
            finish_job(plan, lambda: model, job, on_finished, write, database)


def finish_job(
    plan: Plan,
    model: Callable[[], LoadedModel],
    job: Job,
    on_finished: OnFinished = ignore,
    write: Write = lambda work: work(),
    database: DuckDBPyConnection | None = None,
) -> None:
    """Compute every missing file of one job.

    Args:
        write: writer of sequence shards; tables are written when this returns.
        database: a workspace, in which nothing stays; without one a table opens its own.
    """
    if isinstance(job, int):
        _finish_sequences(plan, model, job, on_finished, write)
        return
    with nullcontext(database) if database else workspace(plan.folder) as store:
        finish_table(store, plan, job)
    on_finished(job)


def _finish_sequences(
    plan: Plan, model: Callable[[], LoadedModel], index: int, on_finished: OnFinished, write: Write
) -> None:
    """Compute missing shards of some sequences: each batch is traced once for all passes."""
    missing = plan.missing(index)
    if not missing:
        return
    parts = list[list[pa.Table]]()
    for batch in batches(plan.corpus.job(index), most_pairs(model())):
        filled = rows_of_batch(missing, model(), batch_for(plan, model(), batch))
        parts.append([*filled.values()])

    def finish() -> None:
        for table, rows in zip(missing, zip(*parts, strict=True), strict=True):
            finish_shard(plan.shard_folder(table), index, partial(merged, table, list(rows)))
        on_finished(index)

    write(finish)


def batch_for(plan: Plan, model: LoadedModel, sequences: Sequence[Input]) -> Batch:
    controlled = partial(model.stream_controlled, seed=plan.facts.seed)
    names = ("hidden_budget", "exemplars", "checked", "run_again", "kept")
    return batch_of(
        model,
        sequences,
        seed=plan.facts.seed,
        type_means=partial(plan.type_means, model),
        controlled=controlled if model.reading.places.can_change else None,
        **{name: getattr(plan, name) for name in names},
    )


_OF_DISK = (OSError, duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
"""DuckDB's errors for a full disk; it has several."""


@contextmanager
def reporting_shortage(output: Path) -> Iterator[None]:
    """Turn the machine's refusals of disk or memory into a UserError about the output's folder.

    Readers of corpora and models raise their own errors for unreadable input.
    """
    try:
        yield
    except ConnectionError:  # the reader of the output has gone
        raise
    except (*_OF_DISK, MemoryError, RuntimeError, duckdb.OutOfMemoryException) as error:
        is_of_memory = isinstance(error, MemoryError | duckdb.OutOfMemoryException)
        # of torch, on a processor and on a GPU
        is_of_memory |= "can't allocate memory" in str(error) or "out of memory" in str(error)
        if isinstance(error, RuntimeError) and not is_of_memory:
            raise
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        reason = (text.strip() or type(error).__name__).splitlines()[0]
        if isinstance(error, _OF_DISK):
            raise UserError(
                f"{output.parent} could not be read or written ({reason}). See to its space and "
                "permissions and rerun the command: finished shards are kept."
            ) from error
        raise UserError(
            f"There is too little memory ({reason}). End other programs, or take fewer --workers "
            "or a smaller --max-tokens, and rerun the command: finished shards are kept."
        ) from error
