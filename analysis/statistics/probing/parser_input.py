"""Input of parsers: attention between the words of a sentence, vectors of words, and trees."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Bool, Float, Int

from analysis.measures.probing.governors import base_of
from analysis.needs import Need
from analysis.statistics.annotation import WORD
from analysis.statistics.columns import singles, small, text
from analysis.statistics.fit import Vectors
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

SHOWN = 64
KEPT = 1000
"""Number of first sequences whose word attention the file keeps, and the shards."""
_SENTENCE = small("sentence", "sentence of the sequence, counted from 0")


_WORD_ATTENTION = (
    small("first_word", "its first word"),
    small("n_words", "its words", "words"),
    singles(
        "attention",
        "what each word of the sentence gives to each, one word that attends after the other: "
        "mean over its pieces, sum over those of the other",
    ),
    singles("cls", "what each word gives to [CLS], mean over its pieces"),
    singles("sep", "what each word gives to [SEP], mean over its pieces"),
)
ATTENTION = Table(
    name="word_attention",
    grain=f"one row per sentence, layer and head of the first {SHOWN} sequences, if annotated",
    key=(SEQUENCE, _SENTENCE, LAYER, HEAD),
    values=_WORD_ATTENTION,
    source="clark-2019",
    needs=(Need.WORDS,),
    laws=(
        "len(attention) = n_words::bigint * n_words and len(cls) = n_words and len(sep) = n_words",
        "list_min(attention) >= 0 and list_min(cls) >= 0 and list_min(sep) >= 0",
        "list_sum(attention) + list_sum(cls) + list_sum(sep) <= n_words * 1.05",
    ),
    raw=(SEQUENCE, _SENTENCE, LAYER, HEAD, *_WORD_ATTENTION),
    merge="from shards where seq < 64",
    depends_on=(),
)


VECTOR = Table(
    name="word_vector",
    grain="one row per form of a word in annotated sequences, masked words left out",
    key=(text("form", "the word as it is written"),),
    values=(
        SEQUENCE,
        WORD,
        singles(
            "vector",
            "input embedding of the form where it first occurs, mean over its pieces",
            "embedding units",
        ),
    ),
    source="clark-2019",
    needs=(Need.WORDS,),
    laws=("len(vector) > 0",),
    merge="""
        select form, (min(seq::bigint * 65536 + word) // 65536)::int as seq,
            (min(seq::bigint * 65536 + word) % 65536)::smallint as word,
            arg_min(vector, seq::bigint * 65536 + word) as vector
        from shards
        group by form
    """,
    depends_on=(),
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
