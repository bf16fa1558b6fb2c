"""Costs of the passes over a corpus, measured on a few of its sequences."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from analysis.contracts import CHECKS, groups
from analysis.needs import Setting
from analysis.statistics.positions import position_spectrum
from analysis.statistics.relevance import perturbation, relevance_map
from analysis.statistics.table import Table
from precompute.corpora.sequence import Sequence
from precompute.jobs.bounds import evenly_spaced
from precompute.jobs.memory import most_pairs, peak_memory, reset_peak_memory
from precompute.jobs.plan import Plan, batches
from precompute.jobs.runner import batch_for
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import rows_of_batch
from precompute.passes.relevance import TOKENS
from precompute.passes.relevance_maps import WHOLE_LAYERS
from precompute.progress.events import Advanced, Begun, Key, OnEvent
from precompute.progress.share import sharing

_JOBS = 8
"""Most jobs whose sequences stand for those of the corpus."""
_PROBE_PAIRS = 2 * 128 * 128
_MOST_PROBES = 16
"""A batch of probes has two sequences of 128 tokens, or more if they are shorter."""
_BRIEF = 10.0
"""Seconds of a first filling. Of less, loading and compiling may be much: it is repeated, for as
many sequences as the batch has."""
MODEL = ""
"""Name in place of a table's: the forward passes."""
CHOSEN, ALONE, BATCH, REHEARSAL = "chosen", "alone", "batch", "rehearsal"
"""Probes: a sequence that every statistic reads, one that checks do not, a batch of such; and the
rehearsal of tables."""


@dataclass(frozen=True)
class Filled:
    """Processor time, rows and memory of filling tables from one batch, by the table's name.

    Memory is the growth while a table is filled, `peak` that of the process, both 0 where the
    system does not tell. `MODEL` is what is left of the time: the forward passes.
    """

    sequences: tuple[Sequence, ...]
    seconds: dict[str, float]
    rows: dict[str, pa.Table]
    memory: dict[str, int]
    peak: int


@dataclass(frozen=True)
class Probes:
    """Tables filled from one sequence, from a batch, and from one or as many that every statistic
    of few sequences reads; `n_sequences` and `n_batches` are the numbers of the whole corpus."""

    alone: Filled
    batch: Filled
    chosen: Filled
    n_sequences: int
    n_batches: float

    def seconds(self, name: str, n_chosen: int) -> float:
        """Return the processor time of a table, or of `MODEL`, over the whole corpus.

        Args:
            n_chosen: the number of sequences of which the table reads more than of others.
        """
        alone, batch, chosen = (
            filled.seconds[name] for filled in (self.alone, self.batch, self.chosen)
        )
        n_more, n_read = len(self.batch.sequences) - 1, len(self.chosen.sequences)
        of_sequence = max(0.0, (batch - alone) / n_more) if n_more else alone
        of_batch = max(0.0, alone - of_sequence)
        more = max(0.0, chosen - (alone if n_read == 1 else batch)) / n_read
        return of_batch * self.n_batches + of_sequence * self.n_sequences + more * n_chosen

    def memory(self, name: str) -> int:
        """Return the memory that a table's filling takes at a time, in a batch of usual size."""
        alone, batch, chosen = (
            filled.memory.get(name, 0) for filled in (self.alone, self.batch, self.chosen)
        )
        return max(self._in_a_batch(alone, batch), chosen)

    @property
    def peak(self) -> int:
        """Return the memory of the process as tables are filled, in a batch of usual size."""
        return max(self._in_a_batch(self.alone.peak, self.batch.peak), self.chosen.peak)

    def _in_a_batch(self, alone: int, batch: int) -> int:
        """Return the bytes of a batch of usual size, from those of one sequence and of probes."""
        n_probes = len(self.batch.sequences)
        of_sequence = max(0.0, (batch - alone) / max(1, n_probes - 1))
        return int(batch + of_sequence * max(0.0, self.n_sequences / self.n_batches - n_probes))


def measured(
    plan: Plan, model: LoadedModel, tables: tuple[Table, ...], on_event: OnEvent
) -> Probes:
    """Fill tables from a few sequences of usual length, as the stage `probes`."""
    known, n_batches = _usual(plan, model)
    n_tokens = len(known[0])
    most = min(_MOST_PROBES, max(2, _PROBE_PAIRS // n_tokens**2), len(known))
    # the spectra of every fourth sequence take more, so that plain ones have no such number
    numbers = (n for n in range(most * 2) if n % position_spectrum.CONTROLLED)
    plain = [replace(known[place], index=next(numbers)) for place in range(most)]
    read = [
        replace(sequence, index=n * position_spectrum.CONTROLLED)
        for n, sequence in enumerate(plain)
    ]
    costs: dict[Key, float] = {CHOSEN: 4, ALONE: 1, BATCH: most, REHEARSAL: 4}  # of a decoder
    on_event(Begun("probes", len(costs), costs=costs))

    def fill(probe: str, sequences: list[Sequence], **how: bool) -> Filled:
        def tell(share: float) -> None:
            on_event(Advanced(probe, share))

        return _fill(plan, model, tables, sequences, tell, **how)

    chosen = fill(CHOSEN, read[-1:], all_read_more=True)
    if sum(chosen.seconds.values()) < _BRIEF:
        chosen = fill(CHOSEN, read, all_read_more=True)
    return Probes(
        alone=fill(ALONE, plain[:1]),
        batch=fill(BATCH, plain),
        chosen=chosen,
        n_sequences=len(plan.corpus),
        n_batches=n_batches,
    )


def _usual(plan: Plan, model: LoadedModel) -> tuple[list[Sequence], float]:
    """Return sequences, those nearest to the root mean square of lengths first, and the number of
    batches of the corpus."""
    jobs = sorted(evenly_spaced(range(len(plan.corpus.job_sizes)), _JOBS))
    sequences, n_batches = list[Sequence](), 0
    for job in jobs:
        sequences += plan.corpus.job(job)
        n_batches += len(list(batches(plan.corpus.job(job), most_pairs(model))))
    usual = math.sqrt(np.mean([len(sequence) ** 2 for sequence in sequences]))
    sequences.sort(key=lambda sequence: abs(len(sequence) - usual))
    return sequences, n_batches * len(plan.corpus) / len(sequences)


def n_chosen(plan: Plan, table: Table) -> int:
    """Return the number of sequences of which a table reads more than of others."""
    if Setting.RUN_AGAIN in table.depends_on:
        return len(plan.run_again)
    if table.name in groups()[CHECKS]:
        return len(plan.checked)
    if table == position_spectrum.TABLE:
        return -(-len(plan.corpus) // position_spectrum.CONTROLLED)
    if table == perturbation.PER_SEQUENCE:
        _, longest = plan.corpus.longest[0]
        return min(len(plan.kept), WHOLE_LAYERS, max(1, TOKENS // longest))
    if table == relevance_map.TABLE:
        return len(plan.kept)
    if table.name in groups()["relevance"]:
        return min(len(plan.kept), WHOLE_LAYERS)
    return len(plan.exemplars)


def _fill(
    plan: Plan,
    model: LoadedModel,
    tables: tuple[Table, ...],
    sequences: list[Sequence],
    on_share: Callable[[float], object],
    *,
    all_read_more: bool = False,
) -> Filled:
    """Fill tables from a batch.

    Args:
        on_share: receives the share that is done.
        all_read_more: every statistic of few sequences reads these.
    """
    chosen = frozenset(sequence.index for sequence in sequences) if all_read_more else frozenset()
    seconds, memory = defaultdict[str, float](float), defaultdict[str, int](int)
    peaks = list[int]()
    again = len(model.layers) * plan.cost_of_again * (all_read_more and plan.runs_again)
    shared, on_again = sharing(len(tables), len(model.layers), on_share, again)
    given: Any = dict.fromkeys(("exemplars", "checked", "run_again", "kept"), chosen)
    given |= {"type_means": partial(model.type_means, sequences), "on_again": on_again}
    batch = replace(batch_for(plan, model, sequences), **given)

    @contextmanager
    def watch(name: str) -> Iterator[None]:
        before, started = reset_peak_memory(), time.process_time()
        with shared(name):
            yield
        seconds[name] += time.process_time() - started
        peaks.append(peak_memory())
        memory[name] = max(memory[name], peaks[-1] - before)

    started = time.process_time()
    rows = rows_of_batch(tables, model, batch, watch=watch)
    seconds[MODEL] = time.process_time() - started - sum(seconds.values())
    return Filled(tuple(sequences), seconds, rows, memory, max(peaks, default=0))
