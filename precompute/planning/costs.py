"""Estimate of what a run takes: processor time, memory, bytes of the file."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.contracts import ALL, groups
from precompute.jobs.memory import peak_memory, reset_peak_memory
from precompute.jobs.plan import Plan
from precompute.models.loaded_model import LoadedModel
from precompute.planning.probes import MODEL, REHEARSAL, measured, n_chosen
from precompute.planning.rehearsal import CORPUS, WEIGHTS, rehearsed
from precompute.planning.stages import FILE_SECONDS
from precompute.progress.events import Finished, OnEvent, ignore

_SECONDS_OF_BYTE = 2e-8
"""Seconds of building a file for each of its bytes, beside `FILE_SECONDS`: that of the digits (38
MB) took 1.75 s, one of 24 articles by the demo model (74 MB) 2.9 s."""
_BLOCK, _OTHER_BLOCKS = 2**18, 9
"""Bytes of a block of the file, and blocks of its head and of what describes it and the corpus. A
table with rows has blocks of its own, and DuckDB's compression comes near that of its Parquet file,
which is 0.8 to 1.4 times as large for tables above 1 MB of the digits and of a decoder."""


@dataclass(frozen=True)
class Cost:
    """Processor time in seconds, bytes of memory at a time, bytes of the file."""

    seconds: float = 0.0
    memory: int = 0
    bytes: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.seconds + other.seconds,
            max(self.memory, other.memory),
            self.bytes + other.bytes,
        )


@dataclass(frozen=True)
class Estimate:
    """Costs by statistic, of loading the model, of passes over the model alone and with the corpus,
    and of tables of the corpus and the file itself; `memory` is the peak of the whole run, 0 where
    the system does not tell."""

    statistics: dict[str, Cost]
    start: Cost
    passes: Cost
    file: Cost
    memory: int

    @property
    def total(self) -> Cost:
        """Return the cost of everything."""
        whole = sum(self.statistics.values(), self.start + self.passes + self.file)
        return Cost(whole.seconds, self.memory, whole.bytes)

    def of_groups(self) -> dict[str, Cost]:
        """Return the cost of every group that has statistics here."""
        return {
            group: self.of(names)
            for group, names in groups().items()
            if group != ALL and not self.statistics.keys().isdisjoint(names)
        }

    def of(self, names: tuple[str, ...]) -> Cost:
        """Return the cost of some statistics together."""
        return sum((self.statistics.get(name, Cost()) for name in names), Cost())


def estimated(plan: Plan, model: LoadedModel, on_event: OnEvent = ignore) -> Estimate:
    """Estimate what is left to do of a plan, by filling its tables from a few sequences.

    Args:
        on_event: receives the stage `probes`.
    """
    start = Cost(time.process_time())  # a run reads the model and the corpus as this process did
    tables = tuple(table for table in plan.passes if table.of_layers)
    probes = measured(plan, model, tables, on_event)
    with TemporaryDirectory(prefix="mixscope-plan-") as folder:
        reset_peak_memory()
        finished = rehearsed(plan, model, probes, Path(folder))
        on_event(Finished(REHEARSAL))
        peak = max(probes.peak, peak_memory())
    jobs = range(len(plan.corpus.job_sizes))
    missing = {job: plan.missing(job) for job in jobs}

    def left(name: str) -> float:
        """Return the share of the corpus that lacks a table; of `MODEL`, any table."""
        lacking = (
            plan.size(job)
            for job in jobs
            if any(name in (MODEL, table.name) for table in missing[job])
        )
        return sum(lacking) / len(plan.corpus)

    costs = {}
    for table in plan.passes:
        is_there = plan.table_file(table).exists()
        seconds = 0.0 if is_there else finished.seconds[table.name]
        memory = 0
        if table.of_layers:
            seconds += left(table.name) * probes.seconds(table.name, n_chosen(plan, table))
            memory = probes.memory(table.name)
        costs[table.name] = Cost(seconds, memory, _in_file(finished.bytes[table.name]))
    passes = left(MODEL) * probes.seconds(MODEL, 0) + finished.seconds[WEIGHTS]
    of_file = _in_file(finished.bytes[CORPUS]) + _OTHER_BLOCKS * _BLOCK
    n_bytes = sum(cost.bytes for cost in costs.values()) + of_file
    building = finished.seconds[CORPUS] + FILE_SECONDS + n_bytes * _SECONDS_OF_BYTE
    file = Cost(building, 0, of_file)
    return Estimate(costs, start, Cost(passes), file, peak)


def _in_file(n_bytes: int) -> int:
    """Return the bytes of a table in the file, from those of its Parquet file; 0 for none."""
    return (1 + n_bytes // _BLOCK) * _BLOCK if n_bytes else 0
