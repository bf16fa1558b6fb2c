"""Runs the jobs of a plan: traces each batch once and hands it to every pass that lacks it."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa

from analysis.errors import UserError
from precompute.corpora.sequence import Sequence
from precompute.jobs.memory import return_freed_memory
from precompute.jobs.plan import Plan, batches
from precompute.jobs.progress import OnProgress, progress
from precompute.jobs.seal import set_aside
from precompute.jobs.shards import counted_from_1, finish_shard, merged
from precompute.models.classification import classification_of
from precompute.models.loaded_model import LoadedModel
from precompute.passes.base import Totals, Weights
from precompute.passes.batch import Batch

Runner = Callable[[Plan, LoadedModel, list[int], OnProgress], None]


def finish_plan(plan: Plan, model: LoadedModel, runner: Runner) -> None:
    """Every shard of the plan, each as it was written; a damaged one is computed again.

    Raises:
        UserError: if one is damaged again as soon as it is written.
    """
    run_plan(plan, model, runner)
    if not _set_aside(plan.damaged()):
        return
    run_plan(plan, model, runner)
    if again := _set_aside(plan.damaged()):
        raise UserError(
            f"{again[0]} was computed again and is damaged again. The disk or the memory is at "
            "fault: rerun the command with --output on another disk."
        )


def _set_aside(damaged: list[Path]) -> list[Path]:
    """The same shards, out of the way and named."""
    for shard in damaged:
        print(
            f"{shard} is damaged: it is kept as {set_aside(shard).name} and computed again.",
            file=sys.stderr,
        )
    return damaged


def run_plan(plan: Plan, model: LoadedModel, runner: Runner) -> None:
    """Every shard of the plan that is not there yet; fits are left to the store."""
    return_freed_memory()
    for each in plan.passes:
        if isinstance(each, Weights):
            finish_shard(plan.place(each), 0, partial(_weights, each, model))
    waiting = [index for index in range(len(plan.corpus.job_sizes)) if plan.missing(index)]
    left = sum(plan.corpus.job_sizes[index] for index in waiting)
    total = len(plan.corpus)
    if not waiting:
        return
    with progress(total, already=total - left) as report:
        runner(plan, model, waiting, report)


def run_local(plan: Plan, model: LoadedModel, jobs: list[int], report: OnProgress) -> None:
    """One job after the other in this process."""
    for index in jobs:
        finish_job(plan, model, index, report)


def finish_job(plan: Plan, model: LoadedModel, index: int, report: OnProgress) -> None:
    """Every shard of one job that is not there yet."""
    missing = plan.missing(index)
    parts = []
    for sequences in batches(plan.corpus.job(index)) if missing else ():
        parts.append(_batch_totals(missing, model, sequences, plan))
        report(len(sequences))
    for each, tables in zip(missing, zip(*parts, strict=True), strict=True):
        finish_shard(plan.place(each), index, partial(_shard, each, list(tables)))


def _weights(of: Weights, model: LoadedModel) -> pa.Table:
    return counted_from_1(of.weights(model.weights))


def _shard(of: Totals, tables: list[pa.Table]) -> pa.Table:
    return counted_from_1(merged(of.TABLE, tables))


def _batch_totals(
    passes: tuple[Totals, ...], model: LoadedModel, sequences: tuple[Sequence, ...], plan: Plan
) -> list[pa.Table]:
    """One table per pass; the trace, which is large, is gone when this returns."""
    trace = model.trace(sequences)
    batch = Batch(
        sequences,
        trace,
        seed=plan.facts.seed,
        hidden_dtype=model.hidden_dtype,
        hidden_budget=plan.hidden_budget,
        exemplars=plan.exemplars,
        followed=plan.followed,
        controlled=partial(model.trace_controlled, seed=plan.facts.seed),
        gradients=model.gradients,
        relevance_start=model.relevance_start,
        kept=plan.kept,
        images=model.images,
        classification=classification_of(model),
    )
    return [each.totals(batch) for each in passes]
