"""Where maps of one input come from: the open file, or the model while the reader waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from analysis.tables.relevance import class_prediction, relevance_map, sequence_relevance
from pages.relevance.choices import MEAN
from pages.ui.charts.image_ground import ImageGround
from pages.ui.store.chosen import ask, open_store

Maps = dict[str, Sequence[float]]
"""The relevance of every token, by a head (or `MEAN`) or by a layer's number."""


class MapSource(Protocol):
    """The maps of one input."""

    @property
    def name(self) -> str:
        """What tells this input from others."""
        ...

    @property
    def ground(self) -> ImageGround: ...

    @property
    def prediction(self) -> list[tuple[str, float]]:
        """Classes with their probabilities, the likeliest first; none without a classifier."""
        ...

    def rules(self) -> list[str]:
        """The rules that there are maps of."""
        ...

    def heads(self, rule: str, layer: int) -> Maps:
        """The mean first, then every head that the rule follows by itself."""
        ...

    def layers(self, rule: str, head: str) -> Maps:
        """One head, or the mean, from every layer that relevance starts behind."""
        ...

    def summary(self, rule: str, layer: int, head: str) -> pd.Series | None:
        """The numbers of one map, as `sequence_relevance` keeps them; None where it is not kept."""
        ...


@dataclass(frozen=True)
class StoredMaps:
    """Those that the open file keeps of a sequence."""

    seq: int
    ground: ImageGround

    @property
    def name(self) -> str:
        return str(self.seq)

    @property
    def prediction(self) -> list[tuple[str, float]]:
        if not open_store().rows.get(class_prediction.TABLE.name):
            return []
        found = ask(class_prediction.of_sequence, seq=self.seq)
        return list(zip(found["label"], found["probability"], strict=True))

    def rules(self) -> list[str]:
        last = int(open_store().run["n_layers"])
        return ask(relevance_map.methods, seq=self.seq, layer=last)["rule"].tolist()

    def heads(self, rule: str, layer: int) -> Maps:
        found = ask(relevance_map.maps, seq=self.seq, rule=rule, layer=layer)
        maps = {_told(row.head): row.relevance for row in found.itertuples()}
        return {head: maps[head] for head in (MEAN, *maps) if head in maps}

    def layers(self, rule: str, head: str) -> Maps:
        number = None if head == MEAN else int(head)
        found = ask(relevance_map.layers, seq=self.seq, rule=rule, head=number)
        return {str(row.layer): row.relevance for row in found.itertuples()}

    def summary(self, rule: str, layer: int, head: str) -> pd.Series | None:
        if not open_store().rows.get(sequence_relevance.TABLE.name):
            return None
        found = ask(sequence_relevance.of_sequence, seq=self.seq)
        number = found["head"].isna() if head == MEAN else found["head"] == int(head)
        row = found[(found["rule"] == rule) & (found["layer"] == layer) & number]
        return None if row.empty else row.iloc[0]


@dataclass(frozen=True)
class LiveMaps:
    """Those that the model gave while the reader waited."""

    name: str
    found: Any

    @property
    def ground(self) -> ImageGround:
        found = self.found
        special = tuple(found.tokens[: found.first_patch])
        return ImageGround(found.rows, found.columns, special, found.picture)

    @property
    def prediction(self) -> list[tuple[str, float]]:
        return list(self.found.prediction)

    def rules(self) -> list[str]:
        return list(self.found.maps)

    def heads(self, rule: str, layer: int) -> Maps:
        maps = self.found.maps[rule]
        of_layer = maps[layer - 1 - self._last() + len(maps)]
        heads = {str(place + 1): each for place, each in enumerate(of_layer[:-1])}
        return {MEAN: of_layer[-1], **heads}

    def layers(self, rule: str, head: str) -> Maps:
        maps = self.found.maps[rule]
        place = -1 if head == MEAN else int(head) - 1
        first = self._last() - len(maps) + 1
        return {str(first + step): each[place] for step, each in enumerate(maps)}

    def summary(self, rule: str, layer: int, head: str) -> None:
        """None: nothing is kept of it."""

    @staticmethod
    def _last() -> int:
        return int(open_store().run["n_layers"])


def _told(head: float | None) -> str:
    return MEAN if head is None or head != head else str(int(head))
