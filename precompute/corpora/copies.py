"""Random syllables said twice: a text in which a model can copy and do nothing else."""

from collections.abc import Iterator

import numpy as np

SYLLABLES = tuple(first + second for first in "bdfghklmnprst" for second in "aeiou")
BLOCK = 9
"""Number of syllables in a text of the corpus `demo-copy` before they are repeated."""
N_TEXTS, SEED = 120, 1


def copies(draws: np.random.Generator, lengths: range) -> Iterator[tuple[int, ...]]:
    """Yield endless blocks of distinct indices in `SYLLABLES`, each block twice in a row."""
    while True:
        block = draws.choice(len(SYLLABLES), draws.choice(lengths), replace=False)
        yield (*block.tolist(), *block.tolist())


def text(places: tuple[int, ...]) -> str:
    """The syllables with spaces between them."""
    return " ".join(SYLLABLES[place] for place in places)
