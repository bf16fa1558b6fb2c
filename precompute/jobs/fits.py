"""Fits: the jobs whose input is what other jobs have left, merged into tables.

They are finished while the file is built, since its tables are what they read: to merge all shards
a second time for them alone would double the longest part of building.
"""

from duckdb import DuckDBPyConnection

from precompute.jobs.plan import Plan
from precompute.jobs.shards import finish_shard
from precompute.passes.base import Fit, FitContext


def finish_fit(store: DuckDBPyConnection, plan: Plan, fit: Fit) -> None:
    """The shard of a fit, from a store that holds the tables it needs, if it is not there yet."""
    context = FitContext(
        seed=plan.facts.seed,
        frequency_ranks={"file": plan.frequencies.ranks} if plan.frequencies else {},
        word_vectors=plan.word_vectors,
        documents=plan.corpus.units(),
    )
    store.execute("set threads = 1")  # sums of floats depend on the order of their terms
    finish_shard(plan.place(fit), 0, lambda: fit.fit(store, context))
    store.execute("reset threads")
