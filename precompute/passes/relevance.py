"""Relevance maps of a batch, by every rule and by the methods for comparison."""

from abc import ABC, abstractmethod
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float, Float32, Int, Int8, UInt8
from torch import Tensor

from analysis.measures.mixing.layer_mixing import attention_mixing
from analysis.measures.mixing.map_similarity import map_similarities
from analysis.measures.relevance.perturbation import area_under_curve, kept_patches, removal_order
from analysis.measures.relevance.relevance import (
    Carried,
    RolledBack,
    carried_relevance,
    gradient_attention,
    raw_attention,
)
from analysis.measures.relevance.relevance_summary import QUANTITIES, relevance_summary
from analysis.relevance_rules import ALL, MEAN_WEIGHTS, MOST_BYTES, RULES
from analysis.statistics import relevance as tables
from analysis.statistics.base.tables import Table
from analysis.token_types import CLS
from precompute.corpora.sequence import Sequence, evenly_spaced, generator
from precompute.models.loaded_model import Classification
from precompute.passes.filling import FromBatch, fills, parts_of_shard, rows
from precompute.passes.layers import Batch, Layer

MEAN = -1
"""Number in place of a head: the mean of all heads."""
NOT_CARRIED = -1
"""Count of tokens in place for methods that carry no relevance by rules."""
WHOLE_LAYERS = 64
"""Most sequences whose whole layers are rolled out: they need a hidden vector per pair of tokens,
which takes longer than all other maps together."""


@dataclass(frozen=True)
class RelevanceMaps:
    """All maps of one sequence; fields of one map share an index in all arrays.

    `rule` is an index in `analysis.relevance_rules.ALL`, `layer` the one that relevance starts
    after, `head` counts from 0 or is `MEAN`. `conservation_error` is NaN and `n_in_place` is
    `NOT_CARRIED` for methods without rules.
    """

    rule: Int8[np.ndarray, " row"]
    layer: Int[np.ndarray, " row"]
    head: Int[np.ndarray, " row"]
    maps: Float32[np.ndarray, "row token"]
    conservation_error: Float[np.ndarray, " row"]
    n_in_place: Int[np.ndarray, " row"]

    def mean_maps(self, layer: int) -> dict[str, Float32[np.ndarray, " token"]]:
        """Return the one map of each rule that has one, for relevance from a layer, from 0 on."""
        chosen = np.flatnonzero((self.layer == layer) & (self.head == MEAN))
        return {ALL[self.rule[place]]: self.maps[place] for place in chosen}

    def where(self, rule: str) -> Bool[np.ndarray, " row"]:
        """Mask of the maps of a rule."""
        return self.rule == ALL.index(rule)


def _of_rule(
    rule: str,
    maps: Float[np.ndarray, "start head token"],
    error: Float[np.ndarray, "start head"] | None = None,
    in_place: Int[np.ndarray, "start head"] | None = None,
    *,
    first_layer: int = 0,
) -> RelevanceMaps:
    """Return the maps of one rule; the last of several heads is their mean."""
    n_layers, n_heads, n_tokens = maps.shape
    size = n_layers * n_heads
    return RelevanceMaps(
        rule=np.full(size, ALL.index(rule), dtype=np.int8),
        layer=(first_layer + np.arange(n_layers)).repeat(n_heads),
        head=np.tile(np.array([*range(n_heads - 1), MEAN]), n_layers),
        maps=maps.reshape(size, n_tokens).astype(np.float32),
        conservation_error=np.full(size, np.nan) if error is None else error.ravel(),
        n_in_place=np.full(size, NOT_CARRIED) if in_place is None else in_place.ravel(),
    )


class Relevance:
    """Relevance maps of the sequences of a batch, known once all layers are added.

    The rules start at the last layer, so weights and values of all layers are kept for them: 30 MB
    for an image of 197 tokens in 12 layers of 12 heads of width 64. Rollouts keep n² numbers each.
    Sequences whose weights would take more than `MOST_BYTES` have no maps, nor have those without
    a token to start from.
    """

    def __init__(self, batch: Batch):
        self.batch = batch
        self._starts: dict[int, Float[np.ndarray, " token"]] = {}
        for row in range(len(batch.sequences)):
            types = batch.sequences[row].token_types
            start = start_weights(batch.model.relevance_start, types, batch.is_content[row])
            if start is not None and attention_bytes(batch, row) <= MOST_BYTES:
                self._starts[row] = start
        whole = set(batch.rows_of(batch.kept, WHOLE_LAYERS))
        self._by_attention = {row: RolledBack(start) for row, start in self._starts.items()}
        self._by_layers = {
            row: RolledBack(start) for row, start in self._starts.items() if row in whole
        }
        self._attention: list[Float[Tensor, "batch head query key"]] = []
        self._values: list[Float[Tensor, "batch head key head_width"]] = []

    def add(self, layer: Layer) -> None:
        """Add the next layer, unless another pass has added it."""
        if layer.index < len(self._attention) or not self._starts:
            return
        rows, real = list(self._starts), slice(max(map(len, self._starts.values())))
        self._attention.append(layer.attention[rows, :, real, real])
        self._values.append(layer.trace.values[rows, :, real])
        for row, rolled in self._by_attention.items():
            rolled.pass_layer(attention_mixing(layer.alone(row)).numpy())
        for row, rolled in self._by_layers.items():
            rolled.pass_layer(layer.mixing_of(row).maps[-1].numpy())

    @cached_property
    def maps(self) -> dict[int, RelevanceMaps]:
        """Relevance maps of every sequence that has any, by its row in the batch."""
        if not self._starts:
            return {}
        start, is_token = self._padded()
        carried = carried_relevance(self._attention, self._values, start=start, is_token=is_token)
        heads, means = (
            Carried(*(tensor.cpu() for tensor in of))
            for of in (carried.heads, carried.mean_weights)
        )
        gradients: tuple[Tensor, ...] = ()
        if self.batch.classification is not None:
            sequences = [self.batch.sequences[row] for row in self._starts]
            gradients = self.batch.classification.gradients(sequences).layers
        maps = {}
        for place, (row, weights) in enumerate(self._starts.items()):
            real = slice(len(weights))
            attention = [of_layer[place, :, real, real] for of_layer in self._attention]
            slopes = [of_layer[place, :, real, real].to(start.dtype) for of_layer in gradients]
            parts = _carried(heads, means, place, len(weights))
            parts += _compared(attention, start[place, real], slopes)
            rollouts = {"norm_rollout": self._by_attention, "norm_rollout_layer": self._by_layers}
            parts += [
                _of_rule(rule, np.stack(of[row].shares)[:, None])
                for rule, of in rollouts.items()
                if row in of
            ]
            names = [field.name for field in fields(RelevanceMaps)]
            columns = ([getattr(part, name) for part in parts] for name in names)
            maps[row] = RelevanceMaps(*map(np.concatenate, columns))
        return maps

    def _padded(self) -> tuple[Float[Tensor, "batch token"], Bool[Tensor, "batch token"]]:
        """Starting weights and the mask of real tokens, for the sequences that have maps."""
        longest = self._attention[0].shape[-1]
        starts = torch.zeros(len(self._starts), longest, dtype=torch.float64)
        for place, weights in enumerate(self._starts.values()):
            starts[place, : len(weights)] = torch.from_numpy(weights)
        lengths = torch.tensor([len(weights) for weights in self._starts.values()])
        is_token = torch.arange(longest) < lengths[:, None]
        return starts.to(self._attention[0]), is_token.to(self._attention[0].device)


def attention_bytes(batch: Batch, row: int) -> int:
    """Return the memory of a sequence's attention weights of all layers in float32."""
    n_tokens, n_heads = len(batch.sequences[row]), len(batch.layers) * batch.n_heads
    return n_heads * n_tokens**2 * torch.float32.itemsize


def _carried(heads: Carried, means: Carried, place: int, n_tokens: int) -> list[RelevanceMaps]:
    """Maps of every rule by head with their mean, then on mean weights.

    The error of the mean is at most the largest of the heads; its tokens in place are the sum of
    theirs.
    """
    parts = []
    for number, rule in enumerate(RULES):
        maps, error, in_place = (tensor[number, place] for tensor in heads)
        of_heads = maps[..., :n_tokens]
        with_mean = (
            (of_heads, of_heads.mean(dim=1, keepdim=True)),
            (error, error.amax(dim=1, keepdim=True)),
            (in_place, in_place.sum(dim=1, keepdim=True)),
        )
        parts.append(_of_rule(rule, *(torch.cat(both, dim=1).numpy() for both in with_mean)))
    for number, rule in enumerate(MEAN_WEIGHTS):
        maps, error, in_place = (tensor[number, place].numpy() for tensor in means)
        parts.append(_of_rule(rule, maps[..., :n_tokens], error, in_place))
    return parts


def _compared(
    attention: SequenceOf[Float[Tensor, "head query key"]],
    start: Float[Tensor, " token"],
    slopes: SequenceOf[Float[Tensor, "head query key"]],
) -> list[RelevanceMaps]:
    """Attention of the start in each layer, and gradient attention of a class, if there are any."""
    of_heads = torch.stack([raw_attention(weights, start) for weights in attention])
    with_mean = torch.cat([of_heads, of_heads.mean(dim=1, keepdim=True)], dim=1)
    parts = [_of_rule("attention", with_mean.cpu().numpy())]
    if slopes:
        of_class = gradient_attention(attention, slopes, start)[None, None].cpu().numpy()
        parts.append(_of_rule("gradient_attention", of_class, first_layer=len(attention) - 1))
    return parts


def start_weights(
    name: str, token_types: UInt8[np.ndarray, " token"], is_content: Bool[np.ndarray, " token"]
) -> Float[np.ndarray, " token"] | None:
    """Starting weights of relevance in a sequence, 1 in sum, by a key of
    `analysis.relevance_rules.STARTS`; None without such a token."""
    is_cls = token_types == CLS
    starts = {
        "cls": is_cls & (is_cls.cumsum() == 1),
        "cls_and_distillation": is_cls,
        "patches": is_content,
        "last": np.arange(len(token_types)) == len(token_types) - 1,
    }[name]
    return starts / starts.sum() if starts.any() else None


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


@fills(tables.RELEVANCE_MAP)
class KeptMaps(_OfMaps):
    """One row per kept sequence, rule, layer and head (or their mean)."""

    table = tables.RELEVANCE_MAP

    def chosen_rows(self) -> tuple[int, ...]:
        return self.batch.rows_of(self.batch.kept)

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        return rows(self.table, relevance=maps.maps, **_keys(self.batch, row, maps))


@fills(tables.SEQUENCE_RELEVANCE)
class SequenceRelevance(_OfMaps):
    """One row per sequence, rule, layer and head (or their mean)."""

    table = tables.SEQUENCE_RELEVANCE

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        images, sequence = self.batch.model.images, self.batch.sequences[row]
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


@fills(tables.SEQUENCE_RELEVANCE_AGREEMENT)
class SequenceRelevanceAgreement(_OfMaps):
    """One row per sequence and pair of rules or methods whose maps are not constant."""

    table = tables.SEQUENCE_RELEVANCE_AGREEMENT

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


@fills(tables.SEQUENCE_PERTURBATION)
class SequencePerturbation(_OfMaps):
    """Two rows per rule, method and random order, for every image with curves."""

    table = tables.SEQUENCE_PERTURBATION

    def chosen_rows(self) -> tuple[int, ...]:
        if self.batch.classification is None or self.batch.model.images is None:
            return ()
        n_images = max(1, TOKENS // max(map(len, self.batch.sequences)))
        return self.batch.rows_of(evenly_spaced(self.batch.kept, WHOLE_LAYERS), n_images)

    def of_sequence(self, row: int, maps: RelevanceMaps) -> pa.Table:
        sequence, of_rules = self.batch.sequences[row], self.mean_maps(row, maps)
        draw = generator(self.batch.seed, purpose="perturbation", index=sequence.index)
        places = draw.permutation(int(self.batch.is_content[row].sum()))
        orders = {rule: removal_order(values, places) for rule, values in of_rules.items()}
        orders[tables.RANDOM] = removal_order(np.zeros(len(places)), places)
        kept = np.stack([kept_patches(order, tables.STEPS) for order in orders.values()])
        rules = np.array([tables.ORDERS.index(rule) for rule in orders])
        curves = _probabilities(sequence, cast(Classification, self.batch.classification), kept)
        flat = curves.reshape(-1, curves.shape[-1])
        n_curves = len(tables.CURVES)
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


@fills(tables.CLASS_PREDICTION)
class Predictions(FromBatch):
    """One row per sequence and class, for the likeliest classes; reads no layer."""

    def rows(self) -> pa.Table:
        table, classification = tables.CLASS_PREDICTION, self.batch.classification
        if classification is None:
            return table.shard_schema.empty_table()
        probabilities = classification.probabilities(self.batch.sequences).cpu()
        n_ranks = min(tables.RANKS, probabilities.shape[1])
        best = probabilities.sort(dim=1, descending=True, stable=True)
        labels = np.array(classification.labels, dtype=object)
        return rows(
            table,
            table.key,
            stands_for={"seq": self.batch.sequence_of_row},
            label=labels[best.indices[:, :n_ranks].numpy()],
            probability=best.values[:, :n_ranks],
        )
