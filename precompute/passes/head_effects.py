"""Effect of heads, and of what tokens send, on what a model makes of a text; their contributions.

A text is run again in many variants, each with something else replaced.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.effects import CHANGES, FILLINGS, MEAN, OF_PARTS, PARTS
from analysis.measures.heads.contribution import contributions
from analysis.measures.heads.head_effect import prediction_changes, replaced_heads, state_changes
from analysis.models.attended import Attended
from analysis.models.interventions.replacing import Answer
from analysis.statistics.heads.single_heads import SEQUENCE_CONTRIBUTION, SEQUENCE_HEAD_EFFECT
from analysis.token_types import OTHER
from precompute.passes.filling import FromBatch, by_name, fills, parts_of_shard, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer, Recorded

TOKENS = 2048
"""Tokens of all variants of a text that are run at a time."""
ASKED = 16
"""Tokens of a text of which a language model's predictions are compared."""


class Part(NamedTuple):
    """Part of a model that is replaced: a head; without a head all heads of the layer; or, with a
    token type, f(x) of its tokens, without a layer in all layers."""

    layer: int | None
    head: int | None = None
    token_type: int | None = None


class TextAgain:
    """One text, run again with parts of the model replaced."""

    def __init__(self, batch: Batch, row: int, recorded: Recorded):
        self._layers, self.sequence = batch.layers, batch.sequences[row]
        self._recorded, self.before, self._targets = recorded(self.sequence, ASKED)
        self._types = torch.from_numpy(self.sequence.token_types).long()
        self._means = [means.of(self._types) for means in batch.type_means()]

    @cached_property
    def parts(self) -> list[Part]:
        """Everything that is replaced alone."""
        types = [kind for kind in self._types.unique().tolist() if kind != OTHER]
        n_heads = enumerate(len(layer.query_weight) for layer in self._layers)
        layers = range(len(self._layers))
        parts = [Part(layer, head) for layer, n in n_heads for head in range(n)]
        parts += map(Part, layers)
        parts += (Part(layer, None, kind) for layer in (None, *layers) for kind in types)
        return parts

    @cached_property
    def alone(self) -> dict[str, dict[Part, list[float]]]:
        """Changes by each part alone, in the order of `CHANGES`, by filling."""
        return {filling: dict(self._changes(filling)) for filling in FILLINGS}

    def _changes(self, filling: str) -> Iterator[tuple[Part, list[float]]]:
        for parts, answer in self.of([(part,) for part in self.parts], filling):
            replaced = [part for (part,) in parts]
            changes = [*state_changes(self.before.hidden[0], answer.hidden)]
            if self.before.logits is None or answer.logits is None:
                changes += [torch.full_like(changes[0], torch.nan)] * 2
            else:
                before, after = self.before.logits.flatten(0, -2), answer.logits
                after = after.unflatten(0, (len(parts), -1)).flatten(1, -2)
                changes += prediction_changes(before, after, self._targets)
            measured = torch.stack(changes, dim=1).tolist()
            yield from zip(replaced, measured, strict=True)

    def of(
        self, variants: list[tuple[Part, ...]], filling: str
    ) -> Iterator[tuple[list[tuple[Part, ...]], Answer]]:
        """Yield a few variants at a time, those that differ from the same layer on, and the answer;
        a variant is the parts that are replaced in it."""
        most = max(1, TOKENS // len(self.sequence))
        for first, group in groupby(sorted(variants, key=_first), _first):
            alike = list(group)
            for start in range(0, len(alike), most):
                few = alike[start : start + most]
                yield few, self._answer(first, few, filling)

    def _answer(self, first: int, variants: list[tuple[Part, ...]], filling: str) -> Answer:
        def change(index: int, attended: Attended, read: Tensor, mixed: Tensor) -> Tensor:
            heads = torch.zeros(attended.weights.shape[:2], dtype=torch.bool)
            keys = torch.zeros(len(variants), len(self._types), dtype=torch.bool)
            for variant, parts in enumerate(variants):
                for _, head, kind in (part for part in parts if part.layer in (None, index)):
                    if kind is None:
                        heads[variant, slice(None) if head is None else head] = True
                    else:
                        keys[variant] |= self._types == kind
            if not heads.any() and not keys.any():
                return mixed
            instead = self._means[index] if filling == MEAN else self._means[index].zero()
            masks = {"heads": heads.to(mixed.device), "keys": keys.to(mixed.device)}
            return replaced_heads(self._layers[index], attended, read, mixed, instead, **masks)

        return self._recorded.again(first, len(variants), change)


def _first(parts: tuple[Part, ...]) -> int:
    """Return the first layer with anything replaced."""
    return min(part.layer or 0 for part in parts)


def texts_again(batch: Batch) -> list[TextAgain]:
    """Return the texts of a batch that are run again."""
    return [TextAgain(batch, row, batch.model.recorded) for row in batch.rows_of(batch.run_again)]


@fills(SEQUENCE_HEAD_EFFECT)
class HeadEffects(FromBatch):
    """One row per text that is run again, filling and part."""

    def rows(self) -> pa.Table:
        texts = self.batch.shared(texts_again)
        parts = (self._rows(text, filling) for text in texts for filling in FILLINGS)
        return parts_of_shard(SEQUENCE_HEAD_EFFECT, parts)

    def _rows(self, text: TextAgain, filling: str) -> pa.Table:
        changes = text.alone[filling]
        numbers = [layer.number for layer in self.batch.layers]
        layer = [np.nan if part.layer is None else numbers[part.layer] for part in changes]
        _, head, kind = np.array([*changes], dtype=float).T  # NaN for None
        return rows(
            SEQUENCE_HEAD_EFFECT,
            seq=text.sequence.index,
            filling=FILLINGS.index(filling),
            layer=np.array(layer),
            head=head + 1,
            token_type=kind,
            **dict(zip(CHANGES, np.array([*changes.values()]).T, strict=True)),
        )


@fills(SEQUENCE_CONTRIBUTION)
def rows_of_contributions(layer: Layer) -> Iterator[pa.Table]:
    """Return one row per sequence and part of the layer's update."""
    n_heads = layer.batch.n_heads
    for row, sequence in enumerate(layer.batch.sequences):
        types = torch.from_numpy(sequence.token_types)
        kinds = types.unique()
        measured = contributions(layer.alone(row), types == kinds[:, None])
        part = np.array([0] * n_heads + [1] * len(kinds) + [2, 3, 4])
        head, token_type = np.full((2, len(part)), np.nan)
        head[part == PARTS.index("head")] = np.arange(1, n_heads + 1)
        token_type[part == PARTS.index("token_type")] = kinds
        yield rows_of_layer(
            layer,
            SEQUENCE_CONTRIBUTION,
            (),
            seq=sequence.index,
            part=part,
            head=head,
            token_type=token_type,
            **by_name(OF_PARTS, measured.double().mean(dim=-1)),
        )
