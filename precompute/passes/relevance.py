"""Relevance maps, their summaries and agreement, and images without their relevant patches."""

from abc import ABC, abstractmethod
from typing import Any, cast

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float

from analysis.measures.mixing.map_similarity import map_similarities
from analysis.measures.relevance.perturbation import area_under_curve, kept_patches, removal_order
from analysis.measures.relevance.relevance_summary import QUANTITIES, relevance_summary
from analysis.relevance_rules import ALL
from analysis.statistics.base.tables import Table
from analysis.statistics.relevance import (
    CLASS_PREDICTION,
    CURVES,
    ORDERS,
    RANDOM,
    RANKS,
    RELEVANCE_MAP,
    SEQUENCE_PERTURBATION,
    SEQUENCE_RELEVANCE,
    SEQUENCE_RELEVANCE_AGREEMENT,
    STEPS,
)
from analysis.token_types import CLS
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import Sequence
from precompute.jobs.bounds import evenly_spaced
from precompute.models.classification import Classification
from precompute.passes.filling import FromBatch, fills
from precompute.passes.layers import Batch, Layer
from precompute.passes.relevance_maps import (
    MEAN,
    NOT_CARRIED,
    WHOLE_LAYERS,
    Relevance,
    RelevanceMaps,
)
from precompute.passes.rows import parts_of_shard, rows

TOKENS = 4160
"""Limit of images with curves, as the sum of their tokens: each image takes over 200 forward
passes. It allows 21 images of 197 tokens. They are among those whose whole layers are rolled out,
so that curves of all rules are of the same images."""


class _OfMaps(ABC):
    """Rows of a table from the relevance maps of its sequences; keeps nothing beside `Relevance`.

    Sequences without maps have no rows.
    """

    table: Table

    def __init__(self, batch: Batch):
        self.batch, self.relevance = batch, batch.shared(Relevance)
        self.chosen = self.chosen_rows()

    def chosen_rows(self) -> tuple[int, ...]:
        """Return the rows of the batch that the table is about; without any no map is made."""
        return tuple(range(len(self.batch.sequences)))

    @abstractmethod
    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table: ...

    def add(self, layer: Layer) -> None:
        if self.chosen:
            self.relevance.add(layer)

    def rows(self) -> pa.Table:
        maps = self.relevance.maps if self.chosen else {}
        parts = [self.of_sequence(row, maps[row]) for row in self.chosen if row in maps]
        return parts_of_shard(self.table, parts)

    def mean_maps(self, row: int, maps: RelevanceMaps) -> dict[str, Float[np.ndarray, " token"]]:
        """Content of each rule's one map of no single head, for relevance from the last layer."""
        of_rules = maps.mean_maps(len(self.batch.layers) - 1)
        return {rule: relevance[self.batch.is_content[row]] for rule, relevance in of_rules.items()}


@fills(RELEVANCE_MAP)
class KeptMaps(_OfMaps):
    """One row per kept sequence, rule, layer and head (or their mean)."""

    table = RELEVANCE_MAP

    def chosen_rows(self) -> tuple[int, ...]:
        return self.batch.rows_of(self.batch.kept)

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        return rows(self.table, relevance=maps.maps, **_keys(self.batch, row, maps))


@fills(SEQUENCE_RELEVANCE)
class SequenceRelevance(_OfMaps):
    """One row per sequence, rule, layer and head (or their mean)."""

    table = SEQUENCE_RELEVANCE

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        images, sequence = self.batch.images, self.batch.sequences[row]
        values = relevance_summary(
            maps.maps.astype(np.float64),
            is_cls=sequence.token_types == CLS,
            is_content=self.batch.is_content[row],
            coverage=images.coverage(sequence.image) if images and sequence.image else None,
        )
        return rows(
            self.table,
            conservation_error=maps.conservation_error,
            n_in_place=np.where(maps.n_in_place == NOT_CARRIED, np.nan, maps.n_in_place),
            **_keys(self.batch, row, maps),
            **dict(zip(QUANTITIES, values.T, strict=True)),
        )


def _keys(batch: Batch, row: int, maps: RelevanceMaps) -> dict[str, Any]:
    return {
        "seq": batch.sequence_of_row[row],
        "rule": maps.rule,
        "layer": np.array([layer.number for layer in batch.layers])[maps.layer],
        "head": np.where(maps.head == MEAN, np.nan, maps.head + 1),
    }


@fills(SEQUENCE_RELEVANCE_AGREEMENT)
class SequenceRelevanceAgreement(_OfMaps):
    """One row per sequence and pair of rules or methods whose maps are not constant."""

    table = SEQUENCE_RELEVANCE_AGREEMENT

    def chosen_rows(self) -> tuple[int, ...]:
        return tuple(row for row, content in enumerate(self.batch.is_content) if content.sum() > 1)

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        of_rules = self.mean_maps(row, maps)
        rules = np.array([ALL.index(rule) for rule in of_rules])
        spearman = map_similarities(np.stack(list(of_rules.values())))
        return rows(
            self.table,
            there=np.triu(~np.isnan(spearman), k=1),
            seq=self.batch.sequences[row].index,
            rule_a=rules[:, None],
            rule_b=rules,
            spearman=spearman,
        )


@fills(SEQUENCE_PERTURBATION)
class SequencePerturbation(_OfMaps):
    """Two rows per rule, method and random order, for every image with curves."""

    table = SEQUENCE_PERTURBATION

    def chosen_rows(self) -> tuple[int, ...]:
        if self.batch.classification is None or self.batch.images is None:
            return ()
        n_images = max(1, TOKENS // max(map(len, self.batch.sequences)))
        return self.batch.rows_of(evenly_spaced(self.batch.kept, WHOLE_LAYERS), n_images)

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        sequence, of_rules = self.batch.sequences[row], self.mean_maps(row, maps)
        draw = generator(self.batch.seed, purpose="perturbation", index=sequence.index)
        places = draw.permutation(int(self.batch.is_content[row].sum()))
        orders = {rule: removal_order(values, places) for rule, values in of_rules.items()}
        orders[RANDOM] = removal_order(np.zeros(len(places)), places)
        kept = np.stack([kept_patches(order, STEPS) for order in orders.values()])
        rules = np.array([ORDERS.index(rule) for rule in orders])
        curves = _probabilities(sequence, cast(Classification, self.batch.classification), kept)
        flat = curves.reshape(-1, curves.shape[-1])
        n_curves = len(CURVES)
        return rows(
            self.table,
            seq=sequence.index,
            rule=rules.repeat(n_curves),
            curve=np.tile(np.arange(n_curves), len(rules)),
            probability=flat,
            area=area_under_curve(flat),
        )


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


@fills(CLASS_PREDICTION)
class Predictions(FromBatch):
    """One row per sequence and class, for the likeliest classes; reads no layer."""

    def rows(self) -> pa.Table:
        table, classification = CLASS_PREDICTION, self.batch.classification
        if classification is None:
            return table.shard_schema.empty_table()
        probabilities = classification.probabilities(self.batch.sequences).cpu()
        n_ranks = min(RANKS, probabilities.shape[1])
        best = probabilities.sort(dim=1, descending=True, stable=True)
        labels = np.array(classification.labels, dtype=object)
        return rows(
            table,
            table.key,
            stands_for={"seq": self.batch.sequence_of_row},
            label=labels[best.indices[:, :n_ranks].numpy()],
            probability=best.values[:, :n_ranks],
        )
