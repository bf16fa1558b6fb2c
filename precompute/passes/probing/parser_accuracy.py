"""Parsers that learn from the attention of all heads, scored on held-out sentences."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import torch
from duckdb import DuckDBPyConnection

from analysis.measures.probing.attention_parser import (
    attention_scores,
    attention_words_scores,
    fresh_attention,
    fresh_attention_words,
)
from analysis.measures.probing.distance_parser import distances_words_scores, fresh_distances_words
from analysis.measures.probing.parser_training import right_branching, right_words, shuffled, train
from analysis.parser_sentence import CandidateScorer, Parameters, ParserSentence
from analysis.statistics.fit import FitContext
from analysis.statistics.probing.parser_accuracy import TABLE
from precompute.passes.probing.parser_sentences import (
    StaticVectors,
    TreeSentence,
    static_vectors,
    tree_sentences,
)

VERSION = 2
NEEDS = ("word_attention", "word_vector")
SEEDS = 5
HELD_OUT = 0.2


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per method and seed; none where fewer than two sequences have trees."""
    known = tree_sentences(store, seed=context.seed)
    if len({tree.seq for tree in known}) < 2 or not any(tree.is_scored.any() for tree in known):
        return TABLE.schema.empty_table()
    with _one_thread():
        return _rows(store, context, known)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run with one thread: sentences are short, and sums of floats depend on the number of
    threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _rows(store: DuckDBPyConnection, context: FitContext, known: list[TreeSentence]) -> pa.Table:
    vectors = static_vectors(store, context.word_vectors, known)
    seeds = list(range(context.seed, context.seed + SEEDS))
    learns = np.stack([_in_training(known, seed) for seed in seeds], axis=1)
    rows = []
    for method, right in _right(known, vectors, seeds, learns).items():
        with_words = "words" in method
        for place, seed in enumerate(seeds):
            held_out = ~learns[:, place]
            n = sum(int(known[index].is_scored.sum()) for index in np.flatnonzero(held_out))
            row = {"method": method, "seed": seed, "n": n}
            row |= {"n_train": int(learns[:, place].sum()), "n_test": int(held_out.sum())}
            if with_words:
                row |= {"vectors": vectors.source, "known_share": vectors.known_share}
            if n:
                rows.append(row | {"uas": right[held_out, place].sum() / n})
    return pa.Table.from_pylist(rows, schema=TABLE.schema)


def _in_training(known: list[TreeSentence], seed: int) -> np.ndarray:
    """Mask of a seed's training sentences; all sentences of a sequence are trained on or held
    out."""
    sequences = np.array([tree.seq for tree in known])
    names = np.unique(sequences)
    n_held_out = max(1, round(HELD_OUT * len(names)))
    held_out = np.random.default_rng(seed).permutation(names)[:n_held_out]
    return ~np.isin(sequences, held_out)


def _right(
    known: list[TreeSentence], vectors: StaticVectors, seeds: list[int], learns: np.ndarray
) -> dict[str, np.ndarray]:
    """Number of correct words per sentence, by method and seed."""
    true = [np.stack([tree.governors] * len(seeds), axis=1) for tree in known]
    dealt = [
        np.stack([shuffled(tree.governors, seed=seed, sentence=place) for seed in seeds], axis=1)
        for place, tree in enumerate(known)
    ]
    sentences, controls = (_seen(known, vectors, governors) for governors in (true, dealt))
    like, n_seeds = sentences[0], len(seeds)

    def trained(
        scores: CandidateScorer, start: Parameters, of: list[ParserSentence] = sentences
    ) -> np.ndarray:
        learnt = train(scores, start, of, learns=learns, seed=seeds[0])
        return np.stack([right_words(scores, learnt, sentence).numpy() for sentence in of])

    chain = [
        (right_branching(len(tree.governors)).numpy() == tree.governors)[tree.is_scored].sum()
        for tree in known
    ]
    start, with_words = fresh_attention(like, n_seeds), fresh_attention_words(like, n_seeds)
    return {
        "attention": trained(attention_scores, start),
        "attention_shuffled": trained(attention_scores, start, controls),
        "attention_words": trained(attention_words_scores, with_words),
        "attention_words_shuffled": trained(attention_words_scores, with_words, controls),
        "distances_words": trained(distances_words_scores, fresh_distances_words(like, seeds)),
        "right_branching": np.stack([chain] * n_seeds, axis=1),
    }


def _seen(
    known: list[TreeSentence], vectors: StaticVectors, governors: list[np.ndarray]
) -> list[ParserSentence]:
    return [
        ParserSentence(
            attention=tree.attention,
            cls=tree.cls,
            sep=tree.sep,
            vectors=torch.stack([vectors.by_form[form] for form in tree.forms]),
            governors=torch.from_numpy(to_learn),
            is_scored=torch.from_numpy(tree.is_scored),
        )
        for tree, to_learn in zip(known, governors, strict=True)
    ]
