"""Heads as parsers and as finders of antecedents: REFERENCE section 4.

Words, trees and mentions are those of the corpus, as the file repeats them.
"""

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import Corpus, frame_of
from tests.outermost.norms import weighed

Store = duckdb.DuckDBPyConnection
DIRECTIONS = ("dependent_to_head", "head_to_dependent")


def dependency_accuracy(corpus: Corpus, store: Store) -> pd.DataFrame:
    """The most attended other word of the sentence, of equals the first, by relation."""
    counts: dict[tuple, list[bool]] = {}
    is_causal = corpus.model.is_causal
    for reading, words in _annotated(corpus, store, "relation is not null"):
        same = _may_govern(words)
        for cell, between in _of_heads(corpus, reading, words):
            looks = (between, np.tril(same) if is_causal else same)
            is_looked_at = (between.T, np.triu(same) if is_causal else same)
            for direction, sides in zip(DIRECTIONS, (looks, is_looked_at), strict=True):
                picked = _first_largest(*sides)
                for relation, right in _scored(words, picked):
                    counts.setdefault((*cell, relation, direction), []).append(right)
    return _accuracies(counts, (*CELL, "relation", "direction"))


def coreference_accuracy(corpus: Corpus, store: Store) -> pd.DataFrame:
    """The most attended head word of an earlier mention; the nearest; the nearest that is the
    same word. Of mentions that have an antecedent."""
    counts: dict[tuple, list[bool]] = {}
    for reading, words in _annotated(corpus, store, "true"):
        mentions = store.execute(
            "select head_word, cluster, mention_type::varchar from mention where seq = ? "
            "order by mention",
            [reading.seq],
        ).fetchall()
        forms = [form.casefold() for form in words["form"]]
        attention = list(_of_heads(corpus, reading, words))
        for head, cluster, kind in mentions:
            earlier = sorted({other for other, *_ in mentions if other < head})
            antecedents = {
                o for o, other_cluster, _ in mentions if o < head and other_cluster == cluster
            }
            if not antecedents:
                continue
            same = [other for other in earlier if forms[other] == forms[head]]
            picked = {
                (*NO_CELL, "nearest"): earlier[-1],
                (*NO_CELL, "head_match"): same[-1] if same else None,
            }
            for cell, between in attention:
                best = max(earlier, key=lambda other, row=between[head]: (row[other], -other))
                picked[*cell, "head"] = best
            for name in (kind, "all"):
                for method, other in picked.items():
                    counts.setdefault((*method, name), []).append(other in antecedents)
    return _accuracies(counts, (*CELL, "method", "mention_type"))


def _annotated(corpus: Corpus, store: Store, which: str) -> list[tuple[Reading, pd.DataFrame]]:
    """The sequences that have words, and those words in their order."""
    words = store.execute(f"from word where {which} order by seq, word").df()
    by_seq = {reading.seq: reading for reading in corpus.readings}
    return [(by_seq[int(str(seq))], rows) for seq, rows in words.groupby("seq", sort=True)]


CELL = ("weighing", "merging", "layer", "head")
NO_CELL = (None,) * len(CELL)


def _of_heads(
    corpus: Corpus, reading: Reading, words: pd.DataFrame
) -> Iterator[tuple[tuple, np.ndarray]]:
    """Yield the attention between words of every head, by weights and norms, merged both ways.

    It is summed over the pieces of the word that is attended to; of those that attend it is the
    mean, or that of the first.
    """
    spans = list(zip(words["first_pos"], words["last_pos"] + 1, strict=True))
    for layer in range(len(corpus.model.layers)):
        for weighing, maps in weighed(corpus.model, reading, layer).items():
            for head, alpha in enumerate(maps):
                received = np.stack([alpha[:, a:b].sum(axis=1) for a, b in spans], axis=1)
                means = np.stack([received[a:b].mean(axis=0) for a, b in spans])
                yield (weighing, "mean", layer + 1, head + 1), means
                yield (weighing, "first", layer + 1, head + 1), received[[a for a, _ in spans]]


def _may_govern(words: pd.DataFrame) -> np.ndarray:
    sentence = words["sentence"].to_numpy()
    return (sentence[:, None] == sentence) & ~np.eye(len(sentence), dtype=bool)


def _first_largest(weight: np.ndarray, allowed: np.ndarray) -> list[int | None]:
    return [
        int(np.where(may, row, -np.inf).argmax()) if may.any() else None
        for row, may in zip(weight, allowed, strict=True)
    ]


def _scored(words: pd.DataFrame, picked: list[int | None]) -> list[tuple[str, bool]]:
    """Every word under every name that it counts for, and whether its governor was found.

    A possessor that a possessive ending follows is decided by the ending.
    """
    scores = []
    rows: list[Any] = list(words.itertuples())
    for place, word in enumerate(rows):
        deciding = place
        if word.relation == "poss" and place + 1 < len(rows):
            follower = rows[place + 1]
            if follower.form in ("'s", "s'") and follower.sentence == word.sentence:
                deciding = place + 1
        right = not pd.isna(word.governor) and picked[deciding] == word.governor
        base = word.relation.partition(":")[0]
        names = {"all_words"}
        if base not in ("root", "punct"):
            names |= {"all", base, word.relation}
        scores += [(name, bool(right)) for name in names]
    return scores


def _accuracies(counts: dict[tuple, list[bool]], keys: tuple[str, ...]) -> pd.DataFrame:
    return frame_of(
        [
            {**dict(zip(keys, cell, strict=True)), "n": len(right), "accuracy": np.mean(right)}
            for cell, right in counts.items()
        ]
    )
