"""The antecedents that heads and rules pick, text by text."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.probing.coreference_accuracy import is_right
from analysis.measures.probing.coreference_baseline import agreement, head_match, nearest, sieve
from analysis.measures.probing.coreference_prediction import attended_antecedents
from analysis.measures.probing.word_attention import WordAttention
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.coreference_prediction import BASELINES, METHODS, TABLE
from analysis.statistics.rows import one_name, table_of
from precompute.passes.batch import Batch
from precompute.passes.probing.mentions import Mentions, mentions_of

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per sequence where something can be found, and head and way to weigh, or rule."""
    parts = [TABLE.schema.empty_table()]
    masked = {sequence.index: sequence.masked_words for sequence in batch.sequences}
    for by_weight, by_norm in zip(batch.annotated, batch.annotated_by_norm, strict=True):
        seq, known, _ = by_weight
        mentions = mentions_of(known, masked[seq])
        if len(mentions.scored):
            for weighing, (*_, given) in zip(WEIGHINGS, (by_weight, by_norm), strict=True):
                parts += _of_heads(seq, mentions, given, weighing, len(batch.trace.layers))
            parts += _of_rules(seq, mentions)
    return pa.concat_tables(parts)


def _of_heads(
    seq: int, mentions: Mentions, attention: WordAttention, weighing: str, n_layers: int
) -> Iterator[pa.Table]:
    for merging in MERGINGS:
        given = getattr(attention, merging)
        heads = torch.from_numpy(mentions.heads).to(given.device)
        picked = attended_antecedents(given, heads).cpu().numpy()
        layer, head = np.divmod(np.arange(len(picked)), len(picked) // n_layers)
        yield _rows(
            seq,
            mentions,
            picked,
            method="head",
            weighing=one_name(weighing, WEIGHINGS, len(picked)),
            merging=one_name(merging, MERGINGS, len(picked)),
            layer=layer,
            head=head,
        )


def _of_rules(seq: int, mentions: Mentions) -> Iterator[pa.Table]:
    picked = {
        "nearest": nearest(mentions.heads),
        "head_match": head_match(mentions.heads, mentions.head_texts),
        "sieve": sieve(
            mentions.heads, mentions.texts, mentions.head_texts, agreement(mentions.features)
        ),
    }
    for method in BASELINES:
        yield _rows(seq, mentions, picked[method][None], method=method)


def _rows(
    seq: int, mentions: Mentions, picked: np.ndarray, *, method: str, **of_head: Any
) -> pa.Table:
    """One row per row of `picked`, of the mentions that have an antecedent."""
    n = len(picked)
    right = is_right(picked, mentions.heads, mentions.clusters)[:, mentions.scored]
    of_rule = dict.fromkeys(("weighing", "merging", "layer", "head"), pa.nulls(n))
    return table_of(
        TABLE,
        seq=np.full(n, seq),
        method=one_name(method, METHODS, n),
        **(of_head or of_rule),
        mentions=pa.array([mentions.places[mentions.scored].tolist()] * n, pa.list_(pa.int16())),
        predicted=pa.array(picked[:, mentions.scored].tolist(), pa.list_(pa.int16())),
        correct=pa.array(right.tolist(), pa.list_(pa.bool_())),
    )
