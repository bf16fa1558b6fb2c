"""How much a file holds of a corpus at most, and what is drawn where the corpus has more.

A sequence's block and its place in the sample are drawn from its index alone, so that they are the
same in every run of a corpus and for every model.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Int32


@dataclass(frozen=True)
class Bounds:
    """How many blocks sequences are summed in at most, and how many rows of tokens, words, pairs or
    occurrences a table of a file has at most."""

    blocks: int = 4096
    raw_rows: int = 20_000_000


USUAL = Bounds()


def block_of(
    units: Int32[np.ndarray, " sequence"], n_blocks: int
) -> Int32[np.ndarray, " sequence"]:
    """The block of each sequence: a sequence by itself where they are few, else its document, with
    others drawn to the same block if documents are many.

    Args:
        units: the number of each sequence's document, in the order of their first.
    """
    if len(units) <= n_blocks:
        return np.arange(len(units), dtype=np.int32)
    n_units = int(units.max()) + 1
    if n_units <= n_blocks:
        return units
    return _draws(0).integers(n_blocks, size=n_units, dtype=np.int32)[units]


def sample_order(n_sequences: int, first: Iterable[int]) -> Int[np.ndarray, " sequence"]:
    """All sequences in the order in which a sample takes them: `first`, then as they are drawn."""
    place = _draws(1).random(n_sequences)
    place[list(first)] = -1
    return np.argsort(place, kind="stable")


def _draws(purpose: int) -> np.random.Generator:
    """Draws of which each is the same however many follow it."""
    return np.random.default_rng(np.random.SeedSequence(0, spawn_key=(purpose,)))
