"""Kind of chart: cells with their numbers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from pages.charts.colours import LESS_TO_MORE
from pages.charts.number_map import Ramp, number_map
from pages.kit.kinds import Plot
from pages.kit.section import Choices


def _around_zero(values: pd.Series) -> Ramp:
    reach = float(values.abs().max()) or 1.0
    return Ramp(LESS_TO_MORE, -reach, reach)


@dataclass(frozen=True, kw_only=True)
class Matrix(Plot):
    """Cell with its number per `x` and `y`, in the order of the rows.

    `ramp` returns the colours of all values. `marked` are picks: the cell that has their options in
    columns of these names has a frame, and a click gives those of another. `more` may name choices.
    """

    x: str = "layer"
    y: str
    ramp: Callable[[pd.Series], Ramp]
    more: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.x, self.y)

    def signed(self) -> Plot:
        return replace(self, ramp=_around_zero, format=f"+{self.format}", more=())

    def on_one_scale(self, frames: list[pd.DataFrame]) -> tuple[Plot, list[pd.DataFrame]]:
        ramp = self.ramp(pd.concat(frames)[self.value])
        return replace(self, ramp=lambda _: ramp), frames

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        ends = [end for end in self.ends if end in frame]
        return number_map(
            frame,
            x=self.x,
            y=self.y,
            value=self.value,
            tooltip=(*ends, *(column.format_map(choices) for column in self.more)),
            orders={
                column: frame[column].drop_duplicates().tolist() for column in (self.x, self.y)
            },
            colours=self.ramp(frame[self.value]),
            format=self.format,
            marked={pick: choices[pick] for pick in self.marked} or None,
        )
