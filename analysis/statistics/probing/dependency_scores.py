"""Counts of correctly predicted governors, by relation and block of sequences."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Bool, Float, Int

from analysis.measures.bootstrap import Redraws
from analysis.measures.probing.governors import (
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from analysis.measures.probing.probe_accuracy import parts, right_by_sequence
from analysis.statistics.fit import FitContext

DIRECTIONS = ("dependent_to_head", "head_to_dependent")
OFFSETS = (-3, -2, -1, 1, 2, 3)


@dataclass(frozen=True)
class RelationScores:
    """One relation: the blocks with it, its number of words there, and the correct ones by probe.

    `rows` are indices among the blocks of sequences with trees.
    """

    relation: str
    rows: Int[np.ndarray, " value"]
    n: Int[np.ndarray, " value"]
    right: Float[np.ndarray, "value cell"]


@dataclass(frozen=True)
class Part:
    """Blocks that probes are chosen on, blocks that they are scored on, and resamples of these."""

    chosen: Bool[np.ndarray, " block"]
    scored: Bool[np.ndarray, " block"]
    redraws: Redraws

    def of(self, scores: RelationScores) -> tuple[np.ndarray, np.ndarray, Redraws] | None:
        """Return masks of a relation's blocks to choose and to score on, and resamples of these.

        None if either has no block.
        """
        chosen, scored = self.chosen[scores.rows], self.scored[scores.rows]
        if not chosen.any() or not scored.any():
            return None
        among_scored = np.searchsorted(np.flatnonzero(self.scored), scores.rows[scored])
        return chosen, scored, self.redraws.of(among_scored)


def parts_of(blocks: Int[np.ndarray, " block"], context: FitContext) -> dict[str, Part]:
    """Return the parts: all blocks chosen and scored on, and each half against the other."""
    return {
        name: Part(chosen, scored, context.redraws(blocks[scored]))
        for name, (chosen, scored) in parts(len(blocks), seed=context.seed).items()
    }


@dataclass(frozen=True)
class Trees:
    """Words of all sequences with trees, one block of sequences after the other."""

    words: pd.DataFrame

    @cached_property
    def block(self) -> Int[np.ndarray, " word"]:
        """Return the index of each word's block among those with trees."""
        return np.unique(self.words["block"], return_inverse=True)[1]

    @cached_property
    def blocks(self) -> Int[np.ndarray, " block"]:
        """Return the blocks with trees."""
        return np.unique(self.words["block"])

    @property
    def n_blocks(self) -> int:
        return len(self.blocks)

    @cached_property
    def sentence(self) -> Int[np.ndarray, " word"]:
        """Return a number for each word's sentence, unique in the corpus."""
        sequence = self.words["seq"].to_numpy(dtype=np.int64)
        return (sequence << 16) + self.words["sentence"].to_numpy(dtype=np.int64)

    def offsets(self) -> Bool[np.ndarray, "cell word"]:
        """Return True where an offset of `OFFSETS` leads to a word's governor."""
        places = self.words["word"].to_numpy(dtype=np.int64)
        return self._right(
            np.stack([by_offset(self.sentence, places, offset) for offset in OFFSETS])
        )

    def heads(
        self, store: DuckDBPyConnection, *, weighing: str, merging: str
    ) -> Bool[np.ndarray, "cell word"]:
        """Return True where a head predicts a word's governor, for each direction in turn."""
        variant = {"weighing": weighing, "merging": merging}
        return np.concatenate(
            [
                self._of_direction(store, variant | {"direction": direction})
                for direction in DIRECTIONS
            ]
        )

    def _of_direction(
        self, store: DuckDBPyConnection, variant: dict[str, str]
    ) -> Bool[np.ndarray, "cell word"]:
        lists = store.sql(
            """
            select predicted from dependency_prediction_weighing
            join blocks using (seq)
            where weighing = $weighing and merging = $merging and direction = $direction
            order by layer, head, block, seq
            """,
            params=variant,
        ).to_arrow_table()["predicted"]
        predicted = lists.combine_chunks().flatten().to_numpy()
        return self._right(predicted.reshape(-1, len(self.words)))

    def _right(self, predicted: Int[np.ndarray, "cell word"]) -> Bool[np.ndarray, "cell word"]:
        return is_right(predicted, self.words["governor"].to_numpy(), self._deciding)

    @cached_property
    def _deciding(self) -> Int[np.ndarray, " word"]:
        forms, relations = self.words["form"].tolist(), self.words["relation"].tolist()
        return deciding_words(relations, forms, self.sentence)

    @property
    def _is_read(self) -> Bool[np.ndarray, " word"]:
        return ~self.words["is_masked"].to_numpy(dtype=bool)

    def by_relation(self, right: Bool[np.ndarray, "cell word"]) -> Iterator[RelationScores]:
        """Yield the scores of every relation that occurs between two unmasked words."""
        for relation, members in words_by_relation(self.words["relation"].tolist()).items():
            chosen = members & self._is_read
            rows, n, n_right = right_by_sequence(right[:, chosen], self.block[chosen])
            if len(rows):
                yield RelationScores(relation, rows, n, n_right)


def trees(store: DuckDBPyConnection) -> Trees:
    """Read the words of a store's trees; −1 is the governor of roots.

    `is_masked` is True if the word or its governor is masked: then a head sees no word there.
    """
    return Trees(
        store.execute(
            """
            select block, seq, sentence, word, form, relation,
                coalesce(governor, -1) as governor,
                word.is_masked or coalesce(head.is_masked, false) as is_masked
            from word
            join blocks using (seq)
            left join (select seq, word as governor, is_masked from word) as head
                using (seq, governor)
            where relation is not null
            order by block, seq, word
            """
        ).df()
    )


def heads_of(store: DuckDBPyConnection) -> pd.DataFrame:
    """Return layer, head and direction of every cell of `Trees.heads`."""
    heads = store.execute(
        "select distinct layer, head from dependency_prediction order by layer, head"
    ).df()
    return pd.concat(
        [heads.assign(direction=direction) for direction in DIRECTIONS], ignore_index=True
    )
