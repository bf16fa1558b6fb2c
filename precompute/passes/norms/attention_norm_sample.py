"""An unbiased sample of pairs of weight and norm, for every layer, head and token type."""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.norms.attention_norm_sample import SAMPLE, earliest, sample_priorities
from analysis.statistics.norms.attention_norm_sample import TABLE
from analysis.statistics.rows import names_of, table_of
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 3
_STREAM = 1  # this pass's own stream of random numbers, beside the run's seed


def totals(batch: Batch) -> pa.Table:
    """At most `SAMPLE` rows per layer, head and token type: the earliest of this batch."""
    heads = batch.trace.layers[0].attention.shape[1]
    shape = (len(batch.trace.layers), heads, len(TOKEN_TYPES))
    drawn = [
        _draws(sequence, seen, shape, batch.seed)
        for sequence, seen in zip(batch.sequences, batch.pairs, strict=True)
    ]
    priorities, queries, keys = (
        np.concatenate(arrays, axis=-1) for arrays in zip(*drawn, strict=True)
    )
    kept = earliest(priorities)
    layer, head, token_type, _ = np.indices(kept.shape)
    priority, query, key = (
        np.take_along_axis(values, kept, axis=-1).ravel() for values in (priorities, queries, keys)
    )
    exists = np.isfinite(priority)
    row = (kept // SAMPLE).ravel()[exists]
    layer, head, token_type = (index.ravel()[exists] for index in (layer, head, token_type))
    query, key = query[exists], key[exists]
    attention, norm = _values(batch, layer, row, head, query, key)
    return table_of(
        TABLE,
        layer=layer,
        head=head,
        token_type=names_of(token_type),
        priority=priority[exists],
        seq=batch.sequence_of_row[row],
        query_pos=query,
        key_pos=key,
        attention=attention,
        value_norm=norm,
    )


def _draws(
    sequence: Sequence, seen: tuple[np.ndarray, ...], shape: tuple[int, int, int], seed: int
) -> tuple[np.ndarray, ...]:
    """Priorities, query and key positions of one sequence's pairs, independent of its batch."""
    generator = np.random.default_rng([seed, _STREAM, sequence.index])
    apart = {id(pairs): pairs for pairs in seen}  # layers that look equally far share theirs
    by_type = {known: _by_type(sequence, pairs) for known, pairs in apart.items()}
    places = [by_type[id(pairs)] for pairs in seen]
    n_of_type = np.stack([np.diff(first) for first, _ in places])[:, None]
    priorities = sample_priorities(generator, shape, np.broadcast_to(n_of_type, shape))
    within = generator.integers(np.maximum(n_of_type, 1)[..., None], size=priorities.shape)
    queries, keys = (np.empty(priorities.shape, dtype=np.int32) for _ in range(2))
    for layer, (first, pairs) in enumerate(places):
        chosen = np.minimum(first[:-1, None] + within[layer], pairs.shape[1] - 1)
        queries[layer], keys[layer] = pairs[:, chosen]  # a type without pairs never arrives
    return priorities, queries, keys


def _by_type(sequence: Sequence, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the start of each token type of keys, and pairs of query and key ordered by type."""
    places = np.array(np.nonzero(pairs))
    types = sequence.token_types[places[1]]
    counts = np.bincount(types, minlength=len(TOKEN_TYPES))
    return np.cumsum([0, *counts]), places[:, np.argsort(types, kind="stable")]


def _values(
    batch: Batch,
    layer: np.ndarray,
    row: np.ndarray,
    head: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """α and ‖f(x)‖ of the drawn pairs."""
    attention, norm = np.empty((2, len(layer)), dtype=np.float32)
    for index, traced in enumerate(batch.trace.layers):
        here = layer == index
        r, h, q, k = (torch.from_numpy(places[here]).long() for places in (row, head, query, key))
        attention[here] = traced.attention[r, h, q, k].cpu().numpy()
        norm[here] = batch.value_norms[index][r, h, k].cpu().numpy()
    return attention, norm
