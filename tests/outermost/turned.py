"""Queries and keys that are turned: every pair of every text written out (su-2021, 3.2.1)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tests.outermost.corpus import Corpus, frame_of

REACH = 64
PARTS = ("position", "query", "key", "content")


@dataclass(frozen=True)
class Pairs:
    """All pairs (i, j) of one head that are compared, of all texts after each other.

    Queries, times the scale of scores, and keys are those before the turn, a complex number for
    each plane: pair × plane. `rest` is what unturned coordinates add to a score, and `row` numbers
    the query of each pair.
    """

    query: np.ndarray
    key: np.ndarray
    rest: np.ndarray
    offset: np.ndarray
    row: np.ndarray
    frequencies: np.ndarray

    def __len__(self) -> int:
        return len(self.offset)

    def score(self, query: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Score of a query and a key at the offset of each pair."""
        turn = np.exp(-1j * self.frequencies * self.offset[:, None])
        return np.real(query * key.conj() * turn).sum(axis=1)

    def centred(self, scores: np.ndarray) -> np.ndarray:
        """Scores less the mean of their row."""
        sums, sizes = np.bincount(self.row, scores), np.bincount(self.row)
        return scores - (sums / sizes)[self.row]

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        return self.query.mean(axis=0), self.key.mean(axis=0)

    def kernel(self, offset: int) -> float:
        query, key = self.means
        turn = np.exp(-1j * self.frequencies * offset)
        return float(np.real(query * key.conj() * turn).sum())

    def shares(self) -> dict[str, float]:
        """The four terms of each score, each by its covariance with the score."""
        query, key = self.means
        own_query, own_key = self.query - query, self.key - key
        sides = ((query, key), (own_query, key), (query, own_key), (own_query, own_key))
        terms = [self.score(*side) for side in sides]
        terms[-1] = terms[-1] + self.rest
        scores = self.centred(sum(terms, np.zeros(len(self))))
        spread = (scores**2).sum()
        shares = {part: scores @ term / spread for part, term in zip(PARTS, terms, strict=True)}
        return shares | {"deviation": np.sqrt(spread / len(self)), "n_pairs": len(self)}


def pairs_of(corpus: Corpus, layer: int) -> list[Pairs]:
    """The pairs of every head of a layer; the scores that they make are held to the model's α."""
    model = corpus.model
    frequencies = model.frequencies(layer).numpy()
    of_heads: list[list[tuple[np.ndarray, ...]]] = [[] for _ in range(model.heads)]
    n_rows = 0
    for reading in corpus.readings:
        i, j = np.nonzero(reading.seen(layer))
        sides = (side.numpy() for side in model.sides(layer, reading.normed[layer]))
        alphas = reading.attention[layer].numpy()
        for head, (queries, keys, alpha) in enumerate(zip(*sides, alphas, strict=True)):
            queries = queries * model.scale(layer)
            query, key = (_planes(side, len(frequencies)) for side in (queries, keys))
            beyond = 2 * len(frequencies)
            rest = (queries[i, beyond:] * keys[j, beyond:]).sum(axis=1)
            pairs = Pairs(query[i], key[j], rest, j - i, i, frequencies)
            weight = np.exp(pairs.score(pairs.query, pairs.key) + rest)
            np.testing.assert_allclose(weight / np.bincount(i, weight)[i], alpha[i, j], atol=1e-6)
            of_heads[head].append((pairs.query, pairs.key, rest, pairs.offset, i + n_rows))
        n_rows += len(reading)
    joined = (map(np.concatenate, zip(*texts, strict=True)) for texts in of_heads)
    return [Pairs(*arrays, frequencies=frequencies) for arrays in joined]


def _planes(rows: np.ndarray, n: int) -> np.ndarray:
    return rows[:, :n] + 1j * rows[:, n : 2 * n]


def rotary_plane(corpus: Corpus) -> pd.DataFrame:
    rows = []
    for layer in range(len(corpus.model.layers)):
        for head, pairs in enumerate(pairs_of(corpus, layer)):
            query, key = pairs.means
            sizes = [(np.abs(side) ** 2).mean(axis=0) for side in (pairs.query, pairs.key)]
            for plane, mean in enumerate(query * key.conj()):
                strength, phase = abs(mean), float(np.angle(mean))
                frequency = pairs.frequencies[plane]
                most = np.sqrt(sizes[0][plane] * sizes[1][plane])
                numbers = {"strength": strength, "phase": phase, "coherence": strength / most}
                numbers |= {"frequency": frequency, "preferred_offset": phase / frequency}
                place = {"layer": layer + 1, "head": head + 1, "plane": plane + 1}
                rows.append(place | numbers | {"n_pairs": len(pairs)})
    return frame_of(rows)


def position_kernel(corpus: Corpus) -> pd.DataFrame:
    return frame_of(
        [
            {"layer": layer + 1, "head": head + 1, "offset": t, "kernel": pairs.kernel(t)}
            for layer in range(len(corpus.model.layers))
            for head, pairs in enumerate(pairs_of(corpus, layer))
            for t in range(max(-REACH, pairs.offset.min()), 1)
        ]
    )


def score_share(corpus: Corpus) -> pd.DataFrame:
    """Shares of every head, and the mean over the heads of each layer."""
    rows = frame_of(
        [
            {"layer": layer + 1, "head": head + 1, **pairs.shares()}
            for layer in range(len(corpus.model.layers))
            for head, pairs in enumerate(pairs_of(corpus, layer))
        ]
    )
    return pd.concat([rows, rows.groupby("layer").mean().reset_index().assign(head=None)])
