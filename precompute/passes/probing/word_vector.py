"""The input embedding of every form of a word, mean over its pieces."""

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int32

from analysis.statistics.probing.word_vector import TABLE
from analysis.statistics.rows import lists_of, table_of
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per form and sequence: its first occurrence there that is not masked."""
    rows = [TABLE.schema.empty_table()]
    for row, sequence in enumerate(batch.sequences):
        if sequence.annotation is not None and sequence.word_spans is not None:
            first = _first_words(sequence, sequence.annotation.forms)
            spans = sequence.word_spans[list(first.values())]
            embeddings = batch.trace.word_embeddings[row, : len(sequence)].double().cpu().numpy()
            rows.append(
                table_of(
                    TABLE,
                    form=pa.array(list(first), pa.string()),
                    seq=np.full(len(first), sequence.index),
                    word=np.array(list(first.values()), dtype=np.int64),
                    vector=lists_of(_means(embeddings, spans)),
                )
            )
    return pa.concat_tables(rows)


def _first_words(sequence: Sequence, forms: tuple[str, ...]) -> dict[str, int]:
    first: dict[str, int] = {}
    for word in np.flatnonzero(~sequence.masked_words).tolist():
        first.setdefault(forms[word], word)
    return first


def _means(
    embeddings: Float[np.ndarray, "token width"], spans: Int32[np.ndarray, "word two"]
) -> Float[np.ndarray, "word width"]:
    place = np.arange(len(embeddings))
    is_piece = (place >= spans[:, :1]) & (place < spans[:, 1:])
    return is_piece @ embeddings / is_piece.sum(axis=1, keepdims=True)
