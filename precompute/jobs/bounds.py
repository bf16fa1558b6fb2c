"""Size limits of a file, and random draws for corpora beyond them.

A sequence's block and its place in the sample are drawn from its index alone, so that they are the
same in every run of a corpus and for every model.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Int32


@dataclass(frozen=True)
class Bounds:
    """Limits of a file: blocks of sequences, and rows of a table of tokens, words or pairs."""

    blocks: int = 4096
    raw_rows: int = 20_000_000


USUAL = Bounds()
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


def evenly_spaced(indices: Iterable[int], n: int) -> frozenset[int]:
    """Return all indices, or n evenly spaced ones if there are more."""
    ordered = indices if isinstance(indices, range) else sorted(indices)
    n = min(n, len(ordered))
    return frozenset(ordered[place * len(ordered) // n] for place in range(n))


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
