"""Sources of the maps of one input: the open file, or the model run for the reader."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.relevance import perturbation, relevance_map, relevance_summary
from pages.ui.charts.image_ground import ImageGround, ground_of
from pages.ui.store.inquiry import Inquiry

MEAN = "mean"
"""Name of the mean over heads, in the address too, in place of a head's number."""
Maps = dict[str, np.ndarray]
"""Relevance of every token, by head (or `MEAN`), by layer number, or by rule."""


@dataclass(frozen=True)
class StoredMaps:
    """Maps of a sequence that the open file stores."""

    inquiry: Inquiry
    seq: int

    @property
    def name(self) -> str:
        """Identifier of the input."""
        return str(self.seq)

    @cached_property
    def ground(self) -> ImageGround:
        """The image; without patches for a text."""
        return ground_of(self.inquiry, self.seq) or ImageGround(0, 0, ())

    @property
    def prediction(self) -> list[tuple[str, float]]:
        """Classes with their probabilities, the likeliest first; empty without a classifier."""
        if not self.inquiry.store.holds(perturbation.CLASSES):
            return []
        classes = self.inquiry.ask(perturbation.classes, seq=self.seq)
        return list(zip(classes["label"], classes["probability"], strict=True))

    @property
    def rules(self) -> Maps:
        """One map per rule from the last layer, without single heads."""
        rows = self.inquiry.ask(
            relevance_map.methods, seq=self.seq, layer=self.inquiry.store.layers[-1]
        )
        return _maps(rows["rule"], rows["relevance"])

    def heads(self, rule: str, layer: int) -> Maps:
        """Maps of the mean over heads, then of every head that the rule follows separately."""
        rows = self.inquiry.ask(relevance_map.maps, seq=self.seq, rule=rule, layer=layer)
        names = [MEAN if pd.isna(head) else int(head) for head in rows["head"]]
        maps = _maps(names, rows["relevance"])
        return {MEAN: maps[MEAN], **maps}

    def layers(self, rule: str, head: str) -> Maps:
        """Maps of one head, or the mean, from every start layer."""
        number = None if head == MEAN else int(head)
        rows = self.inquiry.ask(relevance_map.layers, seq=self.seq, rule=rule, head=number)
        return _maps(rows["layer"], rows["relevance"])

    def summary(self, rule: str, layer: int, head: str) -> pd.Series | None:
        """Row of `sequence_relevance` on one map; None if it is not stored."""
        if not self.inquiry.store.holds(relevance_summary.PER_SEQUENCE):
            return None
        rows = self.inquiry.ask(relevance_summary.of_sequence, seq=self.seq)
        number = rows["head"].isna() if head == MEAN else rows["head"] == int(head)
        row = rows[(rows["rule"] == rule) & (rows["layer"] == layer) & number]
        return None if row.empty else row.iloc[0]


@dataclass(frozen=True)
class LiveMaps:
    """Maps computed for the reader, with the interface of `StoredMaps`.

    `live` is the result of the live relevance function of precompute, `every_layer` the layers of
    the model.
    """

    name: str
    live: Any
    every_layer: list[int]

    @property
    def ground(self) -> ImageGround:
        live = self.live
        special = tuple(live.tokens[: live.first_patch])
        return ImageGround(live.rows, live.columns, special, live.picture)

    @property
    def prediction(self) -> list[tuple[str, float]]:
        return list(self.live.prediction)

    @property
    def rules(self) -> Maps:
        maps = self.live.maps
        return _maps(maps, (of_rule[-1, -1] for of_rule in maps.values()))

    def heads(self, rule: str, layer: int) -> Maps:
        *heads, mean = self.live.maps[rule][self._starts(rule).index(layer)]
        return _maps((MEAN, *range(1, len(heads) + 1)), (mean, *heads))

    def layers(self, rule: str, head: str) -> Maps:
        place = -1 if head == MEAN else int(head) - 1
        return _maps(self._starts(rule), self.live.maps[rule][:, place])

    def summary(self, rule: str, layer: int, head: str) -> None:
        """Return None: numbers of these maps are not stored."""

    def _starts(self, rule: str) -> list[int]:
        """Start layers of a rule; some methods start only at the output of the last layer."""
        return self.every_layer[-len(self.live.maps[rule]) :]


MapSource = StoredMaps | LiveMaps


def _maps(names: Iterable[object], relevances: Iterable[Any]) -> Maps:
    pairs = zip(names, relevances, strict=True)
    return {str(name): np.asarray(relevance, dtype=float) for name, relevance in pairs}
