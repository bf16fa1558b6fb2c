"""Which predicted governors are right, by relation and sequence, from what a run has stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Bool, Float, Int

from analysis.measures.dependency_accuracy import (
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from analysis.measures.probe_accuracy import halves, right_by_sequence
from analysis.measures.token_type_mixing import sequence_draws
from analysis.tables.dependency_prediction import DIRECTIONS

OFFSETS = (-3, -2, -1, 1, 2, 3)


@dataclass(frozen=True)
class Scores:
    """One relation: in which of the sequences it occurs, how often, and what each probe gets right.

    `rows` are places among the sequences with trees.
    """

    relation: str
    rows: Int[np.ndarray, " value"]
    n: Int[np.ndarray, " value"]
    right: Float[np.ndarray, "value cell"]


@dataclass(frozen=True)
class Part:
    """Which sequences probes are chosen on, which they are scored on, and how often each of all is
    drawn in a resample of those."""

    chosen: Bool[np.ndarray, " sequence"]
    scored: Bool[np.ndarray, " sequence"]
    draws: Float[np.ndarray, "resample sequence"]


def parts_of(n_sequences: int, *, seed: int) -> dict[str, Part]:
    """All sequences chosen and scored on, then each half chosen on and the other one scored on."""
    first = halves(n_sequences, seed=seed)
    everything = np.ones(n_sequences, dtype=bool)
    chosen = {"all": everything, "first": first, "second": ~first}
    scored = {"all": everything, "first": ~first, "second": first}
    return {
        name: Part(chosen[name], scored[name], _draws(members, seed))
        for name, members in scored.items()
    }


def _draws(
    members: Bool[np.ndarray, " sequence"], seed: int
) -> Float[np.ndarray, "resample sequence"]:
    if not members.any():
        return np.zeros((0, len(members)))
    drawn = sequence_draws(int(members.sum()), seed=seed)
    draws = np.zeros((len(drawn), len(members)))
    draws[:, members] = drawn
    return draws


@dataclass(frozen=True)
class Trees:
    """The words of all sequences that have trees, one sequence after the other."""

    words: pd.DataFrame

    @cached_property
    def sequence(self) -> Int[np.ndarray, " word"]:
        """The place of each word's sequence among those that have trees."""
        return np.unique(self.words["seq"], return_inverse=True)[1]

    @property
    def n_sequences(self) -> int:
        return int(self.sequence[-1]) + 1 if len(self.words) else 0

    @cached_property
    def sentence(self) -> Int[np.ndarray, " word"]:
        """A number for each word's sentence that no other sentence of the corpus has."""
        sequence = self.words["seq"].to_numpy(dtype=np.int64)
        return (sequence << 16) + self.words["sentence"].to_numpy(dtype=np.int64)

    def offsets(self) -> Bool[np.ndarray, "cell word"]:
        """Whether each of `OFFSETS` leads to each word's governor."""
        places = self.words["word"].to_numpy(dtype=np.int64)
        return self._right(np.stack([by_offset(self.sentence, places, each) for each in OFFSETS]))

    def heads(
        self, store: DuckDBPyConnection, *, weighing: str, merging: str
    ) -> Bool[np.ndarray, "cell word"]:
        """Whether each head is right about each word, in one direction and then in the other."""
        told = {"weighing": weighing, "merging": merging}
        return np.concatenate(
            [self._of_direction(store, told | {"direction": each}) for each in DIRECTIONS]
        )

    def _of_direction(
        self, store: DuckDBPyConnection, told: dict[str, str]
    ) -> Bool[np.ndarray, "cell word"]:
        lists = store.sql(
            """
            select predicted from dependency_prediction_weighing
            where weighing = $weighing and merging = $merging and direction = $direction
            order by layer, head, seq
            """,
            params=told,
        ).to_arrow_table()["predicted"]
        predicted = lists.combine_chunks().flatten().to_numpy()
        return self._right(predicted.reshape(-1, len(self.words)))

    def _right(self, predicted: Int[np.ndarray, "cell word"]) -> Bool[np.ndarray, "cell word"]:
        return is_right(predicted, self.words["governor"].to_numpy(), self._deciding)

    @cached_property
    def _deciding(self) -> Int[np.ndarray, " word"]:
        forms, relations = self.words["form"].tolist(), self.words["relation"].tolist()
        return deciding_words(relations, forms, self.sentence)

    def by_relation(self, right: Bool[np.ndarray, "cell word"]) -> Iterator[Scores]:
        """What is right of every relation that occurs."""
        for relation, members in words_by_relation(self.words["relation"].tolist()).items():
            rows, n, found = right_by_sequence(right[:, members], self.sequence[members])
            if len(rows):
                yield Scores(relation, rows, n, found)


def trees(store: DuckDBPyConnection) -> Trees:
    """What a store's corpus says of the words of its trees; −1 stands for the governor of roots."""
    return Trees(
        store.execute(
            """
            select seq, sentence, word, form, relation, coalesce(governor, -1) as governor
            from word
            where relation is not null
            order by seq, word
            """
        ).df()
    )


def heads_of(store: DuckDBPyConnection) -> pd.DataFrame:
    """layer, head and direction of every cell of `Trees.heads`."""
    heads = store.execute(
        "select distinct layer, head from dependency_prediction order by layer, head"
    ).df()
    return pd.concat(
        [heads.assign(direction=direction) for direction in DIRECTIONS], ignore_index=True
    )
