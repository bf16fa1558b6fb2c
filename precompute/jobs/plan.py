"""Plan of a run: the jobs for one model on one corpus, the path of each shard, and limits of size.

Beyond these limits sequences are drawn. A sequence's block and its place in the sample follow from
its index alone, so that they are the same in every run of a corpus and for every model.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.needs import Setting
from analysis.relevance_rules import RULES
from analysis.scopes import BUDGET, LayerOrder
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import Identity
from analysis.statistics.probing.parsers import SHOWN
from precompute.corpora.index.corpus import Corpus
from precompute.corpora.sequence import Sequence, evenly_spaced
from precompute.corpora.word_files import Frequencies, WordVectors
from precompute.jobs.shards import SEALED, contract, fingerprint, is_intact, shard_path
from precompute.passes import STATISTICS
from precompute.request import USUAL, Bounds

if TYPE_CHECKING:  # which load torch
    from analysis.measures.heads.head_effect import TypeMeans
    from precompute.corpora.images.image_reader import ImageReader
    from precompute.models.loaded_model import LoadedModel


import numpy as np
from jaxtyping import Int, Int32

LEAST_CHECKED, _MOST_CHECKED = 2, 32
_SHARE_OF_CHECKS = 10
"""Checks of robustness take at most one part in so many of a run, and effects of heads one more."""
_COST_OF_CHECKS = 3
"""Processor time of these checks of a sequence, in those of all its other statistics, as measured
on the demo model. A constant, so that a run reads the same sequences on any machine."""
_PASSES_OF_OTHERS = 40
"""Processor time of all statistics of a sequence but checks, in bare forward passes: 54 with the
demo model, 29 with SmolLM2-135M, sequences of 128 tokens on one thread. Tables and the file come on
top."""
_PASSES_OF_MEANS = 1.2
"""The same of averaging heads over a sequence."""
_PASSES_OF_LAYER = 4.5
"""The same of running a sequence without all heads of a layer and without its types of tokens."""
MOST_AVERAGED = 256
"""Sequences over which heads are averaged, evenly spaced."""


def checked_within_budget(n_sequences: int) -> int:
    """Return how many sequences checks of robustness read: as their share pays for, 2 to 32."""
    affordable = n_sequences // (_SHARE_OF_CHECKS * _COST_OF_CHECKS)
    return min(n_sequences, max(LEAST_CHECKED, min(_MOST_CHECKED, affordable)))


def cost_of_again(*, n_layers: int, n_heads: int) -> float:
    """Return the time of running a sequence without each head, in that of its other statistics."""
    return _passes_again(n_layers, n_heads) / _PASSES_OF_OTHERS


def again_within_budget(n_sequences: int, *, n_layers: int, n_heads: int) -> int:
    """Return how many checked sequences are run again without each head: as a tenth of the run
    pays for beside the means that heads are replaced by, 0 if not two.

    A sequence costs near one bare forward pass for each head, and a few more for each layer: about
    98 for 6 × 12 heads and 406 for 30 × 9.
    """
    affordable = n_sequences * _PASSES_OF_OTHERS / _SHARE_OF_CHECKS
    affordable -= min(n_sequences, MOST_AVERAGED) * _PASSES_OF_MEANS
    n = int(affordable / _passes_again(n_layers, n_heads))
    return min(n, checked_within_budget(n_sequences)) if n >= LEAST_CHECKED else 0


def _passes_again(n_layers: int, n_heads: int) -> float:
    return n_layers * (n_heads + _PASSES_OF_LAYER)


def block_of(
    units: Int32[np.ndarray, " sequence"], n_blocks: int
) -> Int32[np.ndarray, " sequence"]:
    """Return the block of each sequence: its own if sequences are few, else that of its document.

    Documents, which `units` numbers by first occurrence, share blocks when there are many.
    """
    if len(units) <= n_blocks:
        return np.arange(len(units), dtype=np.int32)
    n_units = int(units.max()) + 1
    if n_units <= n_blocks:
        return units
    return _draws(0).integers(n_blocks, size=n_units, dtype=np.int32)[units]


def sample_order(n_sequences: int, first: Iterable[int]) -> Int[np.ndarray, " sequence"]:
    """Return all sequences in the order of sampling: `first`, then in random order."""
    place = _draws(1).random(n_sequences)
    place[list(first)] = -1
    return np.argsort(place, kind="stable")


def _draws(purpose: int) -> np.random.Generator:
    """Return a generator whose draws do not depend on the number of draws after them."""
    return np.random.default_rng(np.random.SeedSequence(0, spawn_key=(purpose,)))


BATCH_PAIRS = 16 * 128 * 128
EXEMPLARS = 4
IMAGE_MAP_BYTES, TEXT_MAP_BYTES = 512 * 2**20, 32 * 2**20
Job = int | str
"""A job: sequences of the corpus, by the job's number; or a table, by its name."""


@dataclass(frozen=True)
class Facts:
    """Dependencies of the numbers besides the passes.

    `model` is the model's identity. Loading it again needs its part too, and the seed of untrained
    weights.
    """

    model: Identity
    dtype: str
    seed: int
    layer_order: LayerOrder
    segments: str = "read"
    random_weights: int | None = None
    part: str | None = None


@dataclass(frozen=True)
class Plan:
    """Statistics of a corpus cut into jobs; every job of every pass is one shard below `folder`.

    A plan holds no text: `corpus` knows the paths of its sequences, and a job reads its own.

    `hidden_budget` limits memory and changes no number: see `Batch`. `kept` are the sequences with
    stored relevance maps and pictures; `images` reads a corpus of images. `bounds` limit the rows
    of single sequences in the file. `n_checked` is the number of sequences that checks of
    robustness read, `n_again` that of those which are run again with parts of the model replaced.
    `cost_of_again` is the processor time of one of these, in that of its other statistics.
    `left_out` are statistics of the request that need such sequences, where the run pays for none.
    """

    folder: Path
    facts: Facts
    corpus: Corpus
    statistics: tuple[str, ...]
    frequencies: Frequencies | None = None
    word_vectors: WordVectors | None = None
    hidden_budget: int = BUDGET
    kept: frozenset[int] = frozenset()
    images: "ImageReader | None" = None
    bounds: Bounds = USUAL
    n_checked: int = 0
    n_again: int = 0
    cost_of_again: float = 0.0
    left_out: tuple[str, ...] = ()
    _means: "dict[Identity, tuple[TypeMeans, ...]]" = field(default_factory=dict, compare=False)

    @property
    def passes(self) -> tuple[Table, ...]:
        """Return the tables of the plan's statistics, each after those that it requires."""
        return tuple(table for name, table in STATISTICS.items() if name in self.statistics)

    @property
    def exemplars(self) -> frozenset[int]:
        """Return the sequences with stored maps and waves: the longest, or the first of many."""
        return frozenset(index for index, _ in self.corpus.parts[-1].longest[:EXEMPLARS])

    @cached_property
    def checked(self) -> frozenset[int]:
        """Return the sequences that checks of robustness read."""
        return evenly_spaced(range(len(self.corpus)), self.n_checked)

    @cached_property
    def run_again(self) -> frozenset[int]:
        """Return the checked sequences that are run again with parts of the model replaced."""
        return evenly_spaced(self.checked, self.n_again)

    def type_means(self, model: "LoadedModel") -> "tuple[TypeMeans, ...]":
        """Return means of what heads mix, of evenly spaced sequences and those that are run again,
        which may have a type of token that no other has; once per process."""
        key = model.identity
        if key not in self._means:
            few = self.run_again | evenly_spaced(range(len(self.corpus)), MOST_AVERAGED)
            self._means[key] = model.type_means(self.corpus.some(few))
        return self._means[key]

    @property
    def kept_first(self) -> frozenset[int]:
        """Return all sequences with stored data that needs their tokens."""
        shown = range(min(SHOWN, len(self.corpus)))
        return self.exemplars | self.checked | self.kept | frozenset(shown)

    def shard_folder(self, table: Table) -> Path:
        """Return the folder of a table's shards, named by everything its numbers depend on."""
        return self.folder / table.name / self._fingerprint(table)

    def _fingerprint(self, table: Table) -> str:
        of_pass = {"version": table.version, "table": contract(table), "sealed": SEALED}
        of_pass |= {"counted_from": 1}
        known: dict[str, object] = {
            Setting.CHECKED: sorted(self.checked),
            Setting.RUN_AGAIN: sorted(self.run_again),
            Setting.KEPT: sorted(self.kept),
            Setting.FREQUENCIES: self.frequencies and self.frequencies.sha256,
            Setting.WORD_VECTORS: self.word_vectors and self.word_vectors.sha256,
        }
        weights = {"model": self.facts.model}
        weights |= {setting: known[setting] for setting in table.depends_on if setting in known}
        if table.of_model:
            return fingerprint(**of_pass, **weights)
        corpus = {"dtype": self.facts.dtype, "seed": self.facts.seed}
        corpus |= {"segments": "zero"} if self.facts.segments == "zero" else {}
        corpus |= {"corpus": self.corpus.content_sha256}
        corpus |= {"job_sequences": [part.job_sequences for part in self.corpus.parts]}
        if table.made_by:
            corpus |= asdict(self.bounds) if len(self.corpus) > self.bounds.blocks else {}
            corpus["needs"] = [self._fingerprint(STATISTICS[name]) for name in table.requires]
        return fingerprint(**of_pass, **weights, **corpus)

    def shards(self, table: Table) -> list[Path]:
        """Return the paths of all shards of a complete table, in order."""
        n = len(self.corpus.job_sizes) if table.of_layers else 1
        return [shard_path(self.shard_folder(table), index) for index in range(n)]

    def table_file(self, table: Table) -> Path:
        """Return the path of a whole table, sorted, after its shards are merged."""
        bounded = table.of_sequences or table.rarest
        limits = {**asdict(self.bounds), "first": sorted(self.kept_first)} if bounded else {}
        name = fingerprint(shards=self._fingerprint(table), order=table.sorted_by, **limits)
        return self.folder / "tables" / table.name / f"{name}.parquet"

    def corpus_file(self, table: Table) -> Path:
        """Return the path of a table of the corpus itself."""
        settings = {"columns": contract(table), "corpus": self.corpus.folder.name}
        return self.folder / "tables" / table.name / f"{fingerprint(**settings)}.parquet"

    def missing(self, job: int) -> tuple[Table, ...]:
        """Return the tables filled from the corpus that have no shard for a job yet."""
        return tuple(
            table
            for table in self.passes
            if table.of_layers and not shard_path(self.shard_folder(table), job).exists()
        )

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the names of all tables, each after those that it requires."""
        return tuple(table.name for table in self.passes)

    def needs(self, job: Job) -> frozenset[Job]:
        """Return the tables that must exist before a job begins."""
        table = None if isinstance(job, int) else STATISTICS[job]
        return frozenset(table.requires if table and table.made_by else ())

    def size(self, job: Job) -> int:
        return self.corpus.job_sizes[job] if isinstance(job, int) else 1

    def costs(self, jobs: Iterable[Job]) -> dict[Job, float]:
        """Return numbers proportional to the time that jobs of sequences take."""
        return {
            job: self.cost(self.corpus.job_lengths(job)) for job in jobs if isinstance(job, int)
        }

    def cost(self, lengths: Mapping[int, int]) -> float:
        """Return a number proportional to the time of sequences, from their lengths by index."""
        has_again = any(Setting.RUN_AGAIN in table.depends_on for table in self.passes)
        again = self.cost_of_again if has_again else 0.0
        return sum(n**2 * (1 + again * (index in self.run_again)) for index, n in lengths.items())

    def files(self, job: Job) -> list[Path]:
        if isinstance(job, int):
            of_layers = (table for table in self.passes if table.of_layers)
            return [shard_path(self.shard_folder(table), job) for table in of_layers]
        table = STATISTICS[job]
        return [*(self.shards(table) if table.made_by else ()), self.table_file(table)]

    def damaged(self, job: Job) -> list[Path]:
        there = (file for file in self.files(job) if os.path.lexists(file))
        return [file for file in there if not is_intact(file)]


def kept_sequences(corpus: Corpus, *, n_layers: int, n_heads: int) -> frozenset[int]:
    """Return the sequences with stored relevance maps: all, or as many as fit, evenly spaced."""
    _, longest = corpus.parts[-1].longest[0]
    maps = n_layers * (n_heads + 2) * len(RULES)
    budget = IMAGE_MAP_BYTES if corpus.is_images else TEXT_MAP_BYTES
    return evenly_spaced(range(len(corpus)), max(1, budget // (maps * longest * 4)))


def batches(
    job: tuple[Sequence, ...], most_pairs: int = BATCH_PAIRS
) -> Iterator[tuple[Sequence, ...]]:
    """Yield the batches of a job: sequences of similar length with limited attention maps."""
    batch: list[Sequence] = []
    for sequence in job:
        if batch and (len(batch) + 1) * len(sequence) ** 2 > most_pairs:
            yield tuple(batch)
            batch = []
        batch.append(sequence)
    yield tuple(batch)
