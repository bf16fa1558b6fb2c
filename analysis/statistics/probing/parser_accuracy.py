"""Accuracy of parsers that read the attention of all heads together."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.columns import count, number, text
from analysis.statistics.fit import FitContext
from analysis.statistics.probing.parser_input import (
    StaticVectors,
    TreeSentence,
    static_vectors,
    tree_sentences,
)
from analysis.statistics.table import CHOSEN, Table, View

METHODS = (
    "attention_words",
    "attention",
    "attention_words_shuffled",
    "attention_shuffled",
    "distances_words",
    "right_branching",
)
SEEDS = 5
HELD_OUT = 0.2
_METHOD = text(
    "method",
    "attention_words, attention, the same two trained and scored on shuffled governors "
    "(attention_words_shuffled, attention_shuffled), distances_words or right_branching",
    "name",
)
_SEED = count("seed", "seed of the split into training and held-out text", "seed")
_UAS = number("uas", "share of held-out words with the right governor")
_N = count("n", "held-out words, without punctuation", "words")
_SETTINGS = (
    count("n_train", "sentences trained on", "sentences"),
    count("n_test", "sentences held out", "sentences"),
    text(
        "vectors",
        "what words are known by: input_embedding of the model, or a file; NULL: not at all",
        "name",
        nullable=True,
    ),
    number(
        "known_share", "share of all words that have a vector; NULL: not asked for", nullable=True
    ),
)


def _trained_parsers(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Train and score parsers; no rows where fewer than two sequences have trees."""
    known = tree_sentences(store, seed=context.seed)
    if len({tree.seq for tree in known}) < 2 or not any(tree.is_scored.any() for tree in known):
        return table.schema.empty_table()
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
    return pa.Table.from_pylist(rows, schema=table.schema)


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
    # loads torch, which no other table that is made from tables needs
    from analysis.measures.probing.parsers import right_by_parser, sentence_of, shuffled

    def seen(tree: TreeSentence, governors: list[np.ndarray]):
        return sentence_of(
            attention=tree.attention,
            cls=tree.cls,
            sep=tree.sep,
            vectors=np.stack([vectors.by_form[form] for form in tree.forms]),
            governors=np.stack(governors, axis=1),
            is_scored=tree.is_scored,
        )

    right = right_by_parser(
        [seen(tree, [tree.governors] * len(seeds)) for tree in known],
        [
            seen(tree, [shuffled(tree.governors, seed=seed, sentence=place) for seed in seeds])
            for place, tree in enumerate(known)
        ],
        learns=learns,
        seeds=seeds,
    )
    chain = [
        (tree.governors == np.arange(1, len(tree.governors) + 1))[tree.is_scored].sum()
        for tree in known
    ]  # the next word governs each, the root the last one: clark-2019, section 5.2
    return right | {"right_branching": np.stack([chain] * len(seeds), axis=1)}


TABLE = Table(
    name="parser_accuracy",
    grain="one row per method and seed, with what it was trained on; none with too few trees",
    key=(_METHOD, _SEED),
    values=(_UAS, _N, *_SETTINGS),
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=(
        "uas between 0 and 1",
        "n > 0 and n_train > 0 and n_test > 0",
        "known_share is null or known_share between 0 and 1",
        "(vectors is null) = (known_share is null)",
    ),
    shown_as="parser_accuracy_setting",
    views=(
        View(
            "parser_accuracy",
            "one row per method and seed; none with too few trees",
            (_METHOD, _SEED, _UAS, _N),
            "select method, seed, uas, n from stored.parser_accuracy",
        ),
    ),
    depends_on=(Setting.WORD_VECTORS,),
    version=2,
    requires=("word_attention", "word_vector"),
    made_by=_trained_parsers,
)
