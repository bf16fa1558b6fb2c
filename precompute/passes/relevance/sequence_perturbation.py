"""Class probability of an image as its most relevant patches are deleted or inserted."""

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float, Int

from analysis.measures.relevance.perturbation import area_under_curve, kept_patches, removal_order
from analysis.statistics.relevance.sequence_perturbation import CURVES, ORDERS, RANDOM, STEPS, TABLE
from analysis.statistics.rows import lists_of, names_of, table_of
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import Sequence
from precompute.jobs.bounds import evenly_spaced
from precompute.models.classification import Classification
from precompute.passes.batch import Batch
from precompute.passes.relevance.relevance_maps import WHOLE_LAYERS

VERSION = 1
TOKENS = 4160
"""Limit of images with curves, as the sum of their tokens: each image takes over 200 forward
passes. It allows 21 images of 197 tokens. They are among those whose whole layers are rolled out,
so that curves of all rules are of the same images."""


def totals(batch: Batch) -> pa.Table:
    """Two rows per rule, method and random order, for every image with curves."""
    none = TABLE.shard_schema.empty_table()
    classification, n_tokens = batch.classification, max(map(len, batch.sequences))
    chosen = evenly_spaced(evenly_spaced(batch.kept, WHOLE_LAYERS), max(1, TOKENS // n_tokens))
    if (
        classification is None
        or batch.images is None
        or chosen.isdisjoint(batch.sequence_of_row.tolist())
    ):
        return none
    last = len(batch.trace.layers) - 1
    rows = [none]
    known = zip(batch.sequences, batch.relevance_maps, batch.is_content, strict=True)
    for sequence, maps, is_content in known:
        if maps is not None and sequence.index in chosen:
            relevance = {rule: mean[is_content] for rule, mean in maps.mean_maps(last).items()}
            draw = generator(batch.seed, purpose="perturbation", index=sequence.index)
            places = draw.permutation(int(is_content.sum()))
            rows.append(
                _rows(sequence.index, *_curves(sequence, classification, relevance, places))
            )
    return pa.concat_tables(rows)


def _curves(
    sequence: Sequence,
    classification: Classification,
    relevance: dict[str, Float[np.ndarray, " patch"]],
    draw: Int[np.ndarray, " patch"],
) -> tuple[Int[np.ndarray, " rule"], Float[np.ndarray, "rule two value"]]:
    """Indices of rules in `ORDERS`, and the curves of each in the order of `CURVES`."""
    orders = {rule: removal_order(values, draw) for rule, values in relevance.items()}
    orders[RANDOM] = removal_order(np.zeros(len(draw)), draw)
    kept = np.stack([kept_patches(order, STEPS) for order in orders.values()])
    places = np.array([ORDERS.index(rule) for rule in orders])
    return places, _probabilities(sequence, classification, kept)


def _probabilities(
    sequence: Sequence,
    classification: Classification,
    kept: Bool[np.ndarray, "rule two variant patch"],
) -> Float[np.ndarray, "rule two variant"]:
    """Probability of the whole image's likeliest class; equal variants are run once."""
    all_kept = np.ones((1, kept.shape[-1]), dtype=bool)
    every = np.concatenate([all_kept, kept.reshape(-1, kept.shape[-1])])
    variants, place = np.unique(every, axis=0, return_inverse=True)
    of_classes = (
        classification.of_variants(sequence, torch.from_numpy(variants)).double().cpu().numpy()
    )
    place = place.ravel()
    predicted = of_classes[place[0]].argmax()
    return of_classes[place[1:], predicted].reshape(kept.shape[:-1])


def _rows(
    seq: int, rules: Int[np.ndarray, " rule"], curves: Float[np.ndarray, "rule two value"]
) -> pa.Table:
    flat = curves.reshape(-1, curves.shape[-1])
    return table_of(
        TABLE,
        seq=np.full(len(flat), seq),
        rule=names_of(rules.repeat(len(CURVES)), ORDERS),
        curve=names_of(np.tile(np.arange(len(CURVES)), len(rules)), CURVES),
        probability=lists_of(flat),
        area=area_under_curve(flat),
    )
