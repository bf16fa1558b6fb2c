"""Parsers that read the attention of all heads together: their input and their accuracy."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Bool, Float, Int

from analysis.measures.probing.governors import base_of
from analysis.needs import Need, Setting
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    count,
    numbers,
    place,
    share,
    text,
    with_names,
)
from analysis.statistics.base.tables import UNSTABLE_ARGMAX, FitContext, Part, Table, Vectors

SHOWN, KEPT = 64, 1000
"""Numbers of first sequences whose word attention the file keeps, and the shards."""
_WORDS = {
    "first_word": place("its first word"),
    "n_words": place("its words", "words", least=1),
    "attention": numbers(
        "what each word of the sentence gives to each, one word that attends after the other: "
        "mean over its pieces, sum over those of the other"
    ),
    "cls": numbers("what each word gives to [CLS], mean over its pieces"),
    "sep": numbers("what each word gives to [SEP], mean over its pieces"),
}
_SENTENCE = place("sentence of the sequence, counted from 0", name="sentence")
_WORD_ATTENTION_KEY = (SEQ, _SENTENCE, LAYER, HEAD)
WORD_ATTENTION = Table(
    "word_attention",
    key=_WORD_ATTENTION_KEY,
    values=_WORDS,
    source="clark-2019",
    note=f"the first {SHOWN} sequences, if annotated",
    needs=(Need.WORDS,),
    laws=(
        "len(attention) = n_words::bigint * n_words and len(cls) = n_words and len(sep) = n_words",
        "list_min(attention) >= 0 and list_min(cls) >= 0 and list_min(sep) >= 0",
        "list_sum(attention) + list_sum(cls) + list_sum(sep) <= n_words * 1.05",
    ),
    raw=(*_WORD_ATTENTION_KEY, *with_names(_WORDS)),
    merge=f"from shards where seq < {SHOWN}",
)
WORD_VECTOR = Table(
    "word_vector",
    key=(text("the word as it is written", name="form"),),
    values={
        "seq": replace(SEQ, name=""),
        "word": place("word of the sequence, counted from 0"),
        "vector": numbers(
            "input embedding of the form where it first occurs, mean over its pieces",
            "embedding units",
            least=1,
        ),
    },
    source="clark-2019",
    note="annotated sequences, without masked words",
    needs=(Need.WORDS,),
    merge="""
        select form, (min(seq::bigint * 65536 + word) // 65536)::int as seq,
            (min(seq::bigint * 65536 + word) % 65536)::smallint as word,
            arg_min(vector, seq::bigint * 65536 + word) as vector
        from shards
        group by form
    """,
)
INPUT_EMBEDDING = "input_embedding"

BUDGET = 2**27
"""Most attention weights that parsers learn from: half a GiB."""
_LISTS = ("attention", "cls", "sep")
WIDTH = 100
"""Most values of a word's vector, as in the paper."""


@dataclass(frozen=True)
class TreeSentence:
    """One sentence: its place, its attention, and its tree; the root's number is n.

    `forms` are empty for masked words, which therefore have no vector.
    """

    seq: int
    attention: Float[np.ndarray, "word candidate head"]
    cls: Float[np.ndarray, "word head"]
    sep: Float[np.ndarray, "word head"]
    forms: tuple[str, ...]
    governors: Int[np.ndarray, " word"]
    is_scored: Bool[np.ndarray, " word"]


def tree_sentences(store: DuckDBPyConnection, *, seed: int) -> list[TreeSentence]:
    """Read the sentences of sequences with trees, in the order of the corpus.

    If their attention is larger than `BUDGET`, a random sample of sequences is read.
    """
    words = store.execute(
        """
        select seq, sentence, word - min(word) over one as word, form, relation, is_masked,
            coalesce(governor - min(word) over one, count(*) over one) as governor
        from word
        where relation is not null
        window one as (partition by seq, sentence)
        order by seq, sentence, word
        """
    ).df()
    trees = dict(iter(words.groupby(["seq", "sentence"], sort=False)))
    return [
        _sentence(row, trees[row["seq"], row["sentence"]])
        for row in _attention(store, _affordable(store, seed))
        if (row["seq"], row["sentence"]) in trees
    ]


def _affordable(store: DuckDBPyConnection, seed: int) -> list[int]:
    sizes = store.execute(
        """
        select seq, sum(len(attention)) as size
        from word_attention_shards
        where seq in (select seq from word where relation is not null)
        group by seq
        order by seq
        """
    ).df()
    order = np.random.default_rng(seed).permutation(len(sizes))
    fits = sizes["size"].to_numpy()[order].cumsum() <= BUDGET
    return sorted(sizes["seq"].to_numpy()[order[fits]].tolist())


def _attention(store: DuckDBPyConnection, chosen: list[int]) -> Iterator[dict]:
    """Yield every sentence with the attention of all heads, one head after the other."""
    reader = store.sql(
        """
        select seq, sentence, n_words, attention, cls, sep
        from word_attention_shards
        where seq in (select unnest($chosen))
        order by seq, sentence, layer, head
        """,
        params={"chosen": chosen},
    ).to_arrow_reader(4096)
    begun: list[dict] = []
    for rows in reader:
        keys = rows.select(["seq", "sentence", "n_words"]).to_pandas()
        starts = np.flatnonzero((keys.diff() != 0).any(axis=1))
        for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
            part = {name: rows[name].slice(start, end - start).flatten() for name in _LISTS}
            part = keys.iloc[start].to_dict() | {n: values.to_numpy() for n, values in part.items()}
            if begun and any(begun[0][name] != part[name] for name in keys):
                yield _joined(begun)
                begun = []
            begun.append(part)
    if begun:
        yield _joined(begun)


def _joined(parts: list[dict]) -> dict:
    return parts[0] | {name: np.concatenate([part[name] for part in parts]) for name in _LISTS}


def _sentence(row: dict, tree: pd.DataFrame) -> TreeSentence:
    n_words, is_masked = row["n_words"], tree["is_masked"].to_numpy(dtype=bool)
    governors = tree["governor"].to_numpy(dtype=np.int64, copy=True)
    is_scored = np.array([base_of(relation) != "punct" for relation in tree["relation"]])

    def heads_last(name: str, shape: tuple[int, ...]) -> Float[np.ndarray, "*any head"]:
        return np.moveaxis(row[name].reshape(-1, *shape), 0, -1).copy()

    return TreeSentence(
        seq=row["seq"],
        attention=heads_last("attention", (n_words, n_words)),
        cls=heads_last("cls", (n_words,)),
        sep=heads_last("sep", (n_words,)),
        forms=tuple(tree["form"].where(~is_masked, "")),
        governors=governors,
        is_scored=is_scored & ~is_masked & ~np.append(is_masked, False)[governors],
    )


@dataclass(frozen=True)
class StaticVectors:
    """Static vectors of words: their source, the share of known words, and the vectors.

    Vectors are centred, at most `WIDTH` principal components wide, of a mean squared length of 1,
    and end in a 1; a word without a vector has zeros before it.
    """

    source: str
    known_share: float
    by_form: dict[str, np.ndarray]


def static_vectors(
    store: DuckDBPyConnection, given: Vectors | None, sentences: list[TreeSentence]
) -> StaticVectors:
    """Return the vectors of a file, or else the model's own input embeddings."""
    rows = [] if given else store.execute("select form, vector from word_vector").fetchall()
    embeddings = {form: np.array(vector) for form, vector in rows}
    words = [form for sentence in sentences for form in sentence.forms]
    vectors = {}
    for form in sorted(set(words)):
        vector = embeddings.get(form) if given is None else given.of(form)
        if vector is not None:
            vectors[form] = vector
    return StaticVectors(
        source=given.name if given else INPUT_EMBEDDING,
        known_share=sum(form in vectors for form in words) / max(len(words), 1),
        by_form=_reduced(vectors, sorted(set(words))),
    )


def _reduced(vectors: dict[str, np.ndarray], forms: list[str]) -> dict[str, np.ndarray]:
    if not vectors:
        return {form: np.ones(1, dtype=np.float32) for form in forms}
    matrix = np.stack(list(vectors.values())).astype(np.float64)
    matrix -= matrix.mean(axis=0)
    if matrix.shape[1] > WIDTH:
        matrix = matrix @ np.linalg.svd(matrix, full_matrices=False)[2][:WIDTH].T
    length = np.sqrt((matrix**2).sum(axis=1).mean()) or 1.0
    rows = dict(zip(vectors, (matrix / length).astype(np.float32), strict=True))
    nothing = np.zeros(matrix.shape[1], dtype=np.float32)
    return {form: np.append(rows.get(form, nothing), np.float32(1.0)) for form in forms}


METHODS = (
    "attention_words",
    "attention",
    "attention_words_shuffled",
    "attention_shuffled",
    "distances_words",
    "right_branching",
)
SEEDS, HELD_OUT = 5, 0.2


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
        for at, seed in enumerate(seeds):
            held_out = ~learns[:, at]
            n = sum(int(known[index].is_scored.sum()) for index in np.flatnonzero(held_out))
            row = {"method": method, "seed": seed, "n": n}
            row |= {"n_train": int(learns[:, at].sum()), "n_test": int(held_out.sum())}
            if with_words:
                row |= {"vectors": vectors.source, "known_share": vectors.known_share}
            if n:
                rows.append(row | {"uas": right[held_out, at].sum() / n})
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
            seen(tree, [shuffled(tree.governors, seed=seed, sentence=at) for seed in seeds])
            for at, tree in enumerate(known)
        ],
        learns=learns,
        seeds=seeds,
    )
    chain = [
        (tree.governors == np.arange(1, len(tree.governors) + 1))[tree.is_scored].sum()
        for tree in known
    ]  # the next word governs each, the root the last one: clark-2019, section 5.2
    return right | {"right_branching": np.stack([chain] * len(seeds), axis=1)}


_UAS = {
    "uas": share("share of held-out words with the right governor"),
    "n": count("held-out words, without punctuation", "words"),
}
_SPLIT = (
    text(
        "attention_words, attention, the same two trained and scored on shuffled governors "
        "(attention_words_shuffled, attention_shuffled), distances_words or right_branching",
        "name",
        name="method",
    ),
    count("seed of the split into training and held-out text", "seed", least=None, name="seed"),
)
PARSER_ACCURACY = Table(
    "parser_accuracy",
    key=_SPLIT,
    values={
        **_UAS,
        "n_train": count("sentences trained on", "sentences"),
        "n_test": count("sentences held out", "sentences"),
        "vectors": text(
            "what words are known by: input_embedding of the model, or a file",
            "name",
            null="if not at all",
        ),
        "known_share": share("share of all words that have a vector", null="if not asked for"),
    },
    source="clark-2019",
    note="none with too few trees",
    declared=UNSTABLE_ARGMAX,
    needs=(Need.TREES,),
    laws=("(vectors is null) = (known_share is null)",),
    shown_as="parser_accuracy_setting",
    views=(Part("parser_accuracy", ("n_train", "n_test", "vectors", "known_share")),),
    depends_on=(Setting.WORD_VECTORS,),
    version=2,
    requires=("word_attention", "word_vector"),
    made_by=_trained_parsers,
)
