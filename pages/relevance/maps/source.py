"""Where maps of one input come from: the open file, or the model while the reader waits."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables.relevance import class_prediction, relevance_map, sequence_relevance
from pages.relevance.choices import MEAN
from pages.ui.charts.image_ground import ImageGround, ground_of
from pages.ui.store.chosen import ask, open_store

Maps = dict[str, np.ndarray]
"""The relevance of every token, by a head (or `MEAN`), by a layer's number, or by a rule."""
_NO_GROUND = ImageGround(0, 0, ())


@dataclass(frozen=True)
class StoredMaps:
    """Those that the open file keeps of a sequence."""

    seq: int

    @property
    def name(self) -> str:
        """What tells this input from others."""
        return str(self.seq)

    @cached_property
    def ground(self) -> ImageGround:
        """The image; of no patches where it is a text."""
        return ground_of(self.seq) or _NO_GROUND

    @property
    def prediction(self) -> list[tuple[str, float]]:
        """Classes with their probabilities, the likeliest first; none without a classifier."""
        if not open_store().holds(class_prediction.TABLE):
            return []
        classes = ask(class_prediction.of_sequence, seq=self.seq)
        return list(zip(classes["label"], classes["probability"], strict=True))

    @property
    def rules(self) -> Maps:
        """The one map of every rule that is of no single head, from the last layer."""
        rows = ask(relevance_map.methods, seq=self.seq, layer=_last_layer())
        return dict(zip(rows["rule"], map(_numbers, rows["relevance"]), strict=True))

    def heads(self, rule: str, layer: int) -> Maps:
        """The mean first, then every head that the rule follows by itself."""
        rows = ask(relevance_map.maps, seq=self.seq, rule=rule, layer=layer)
        names = [MEAN if pd.isna(head) else str(int(head)) for head in rows["head"]]
        maps = dict(zip(names, map(_numbers, rows["relevance"]), strict=True))
        return {head: maps[head] for head in (MEAN, *maps) if head in maps}

    def layers(self, rule: str, head: str) -> Maps:
        """One head, or the mean, from every layer that relevance starts at the output of."""
        number = None if head == MEAN else int(head)
        rows = ask(relevance_map.layers, seq=self.seq, rule=rule, head=number)
        return dict(zip(map(str, rows["layer"]), map(_numbers, rows["relevance"]), strict=True))

    def summary(self, rule: str, layer: int, head: str) -> pd.Series | None:
        """The numbers of one map, as `sequence_relevance` keeps them; None where it is not kept."""
        if not open_store().holds(sequence_relevance.TABLE):
            return None
        rows = ask(sequence_relevance.of_sequence, seq=self.seq)
        number = rows["head"].isna() if head == MEAN else rows["head"] == int(head)
        row = rows[(rows["rule"] == rule) & (rows["layer"] == layer) & number]
        return None if row.empty else row.iloc[0]


@dataclass(frozen=True)
class LiveMaps:
    """Those that the model gave while the reader waited, as `StoredMaps` has them.

    Attributes:
        live: what the door to precompute gives back.
    """

    name: str
    live: Any

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
        return {rule: _numbers(maps[-1][-1]) for rule, maps in self.live.maps.items()}

    def heads(self, rule: str, layer: int) -> Maps:
        maps = self.live.maps[rule]
        *heads, mean = maps[layer - self._first_layer(rule)]
        named = {str(head): _numbers(relevance) for head, relevance in enumerate(heads, start=1)}
        return {MEAN: _numbers(mean), **named}

    def layers(self, rule: str, head: str) -> Maps:
        place, first = -1 if head == MEAN else int(head) - 1, self._first_layer(rule)
        maps = self.live.maps[rule]
        return {str(layer): _numbers(heads[place]) for layer, heads in enumerate(maps, start=first)}

    def summary(self, rule: str, layer: int, head: str) -> None:
        """None: nothing is kept of it."""

    def _first_layer(self, rule: str) -> int:
        """Some methods start at the output of the last layer alone."""
        return _last_layer() - len(self.live.maps[rule]) + 1


MapSource = StoredMaps | LiveMaps


def _last_layer() -> int:
    return int(open_store().run["n_layers"])


def _numbers(relevance: Any) -> np.ndarray:
    return np.asarray(relevance, dtype=float)
