"""Attention between the words of every sentence of the first annotated sequences."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from analysis.measures.probing.word_attention import WordAttention
from analysis.statistics.probing.word_attention import KEPT, TABLE
from analysis.statistics.rows import lists_of, table_of
from precompute.corpora.annotated.annotation import Annotation
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sentence, layer and head."""
    n_heads = len(batch.trace.layers[0].weights.query_weight)
    rows = [
        _rows(sentence, n_heads)
        for index, annotation, attention in batch.annotated
        if index < KEPT
        for sentence in _sentences(index, annotation, attention)
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _sentences(index: int, known: Annotation, attention: WordAttention) -> Iterator[dict[str, Any]]:
    mean, cls, sep = (
        tensor.cpu().numpy() for tensor in (attention.mean, attention.cls, attention.sep)
    )
    for number in sorted(set(known.sentences)):
        words = np.flatnonzero(np.array(known.sentences) == number)
        first, n_words = words[0], len(words)
        span = slice(first, first + n_words)
        yield {
            "seq": index,
            "sentence": number,
            "first_word": first,
            "n_words": n_words,
            "attention": mean[:, span, span],
            "cls": cls[:, span],
            "sep": sep[:, span],
        }


def _rows(sentence: dict[str, Any], n_heads: int) -> pa.Table:
    place = np.arange(len(sentence["cls"]))
    columns = {
        name: lists_of(value.reshape(len(place), -1))
        if isinstance(value, np.ndarray)
        else np.full(len(place), value)
        for name, value in sentence.items()
    }
    return table_of(TABLE, layer=place // n_heads, head=place % n_heads, **columns)
