"""Governors that every head predicts for each word with a tree."""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.probing.dependency_prediction import predicted_governors
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.dependency_prediction import DIRECTIONS, TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.corpora.annotated.annotation import Annotation
from precompute.passes.batch import Batch

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per weighing, sequence with trees, layer, head, direction and merging."""
    weights = batch.trace.layers[0].weights
    n_heads = len(weights.query_weight)
    rows = [TABLE.schema.empty_table()]
    for by_weight, by_norm in zip(batch.annotated, batch.annotated_by_norm, strict=True):
        index, annotation, _ = by_weight
        if annotation.governors is not None:
            predicted = [
                [
                    _predicted(attention, annotation, is_causal=weights.is_causal)
                    for attention in (words.mean, words.first)
                ]
                for _, _, words in (by_weight, by_norm)
            ]
            rows.append(_rows(index, np.array(predicted), n_heads))
    return pa.concat_tables(rows)


def _predicted(attention: torch.Tensor, known: Annotation, *, is_causal: bool) -> np.ndarray:
    """Predicted governors: direction × head × word."""
    sentences = torch.tensor(known.sentences, device=attention.device)
    both = predicted_governors(attention, sentences, is_causal=is_causal)
    return torch.stack(both).cpu().numpy()


def _rows(index: int, predicted: np.ndarray, n_heads: int) -> pa.Table:
    ways = np.indices(predicted.shape[:-1])
    weighing, merging, direction, place = (axis.ravel() for axis in ways)
    n_words = predicted.shape[-1]
    starts = np.arange(len(place) + 1, dtype=np.int32) * n_words
    return table_of(
        TABLE,
        seq=np.full(len(place), index),
        layer=place // n_heads,
        head=place % n_heads,
        direction=names_of(direction, DIRECTIONS),
        weighing=names_of(weighing, WEIGHINGS),
        merging=names_of(merging, MERGINGS),
        predicted=pa.ListArray.from_arrays(starts, predicted.ravel().astype(np.int16)),
    )
