"""Events of a run, in the order in which they happen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Key = int | str
"""Name of a job; of sequences its number."""
Stage = Literal["model", "proof", "corpus", "weights", "sequences", "tables", "file"]
"""Stages of a run in their order; with --until some are repeated."""


@dataclass(frozen=True)
class Begun:
    """A stage begins, which ends the one before.

    `total` counts its sequences or tables, 0 if unknown; `found` those that were done before the
    run, and `found_shards` the shards of this stage that were. `sizes` are the sequences of each
    job that is left, 1 if it is not named, and `costs` are proportional to the time of each.
    """

    stage: Stage
    total: int = 0
    found: int = 0
    found_shards: int = 0
    sizes: Mapping[Key, int] = field(default_factory=dict)
    costs: Mapping[Key, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Advanced:
    """A job of the current stage is under way, and a share of it is done.

    A worker process gives its name and its bytes of memory.
    """

    job: Key
    share: float
    worker: str = ""
    memory: int = 0


@dataclass(frozen=True)
class Finished:
    """A job is finished: its files are on disk."""

    job: Key


@dataclass(frozen=True)
class Made:
    """The file of the run is there under its name."""

    file: Path
    n_sequences: int
    n_tokens: int
    n_statistics: int


Event = Begun | Advanced | Finished | Made
OnEvent = Callable[[Event], object]


def ignore(_: Event) -> None:
    """Show nothing."""
