"""Layout of a chart of many maps, in pixels from its upper left corner."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.ui.charts.image_ground import ImageGround, Numbers

GAP, BAR, BAR_GAP = 16, 6, 5
_TITLE, _FOOT = 24, 30


@dataclass(frozen=True)
class Panel:
    """One map.

    Attributes:
        name: value that a click on the map returns.
        title: text above the map.
        relevance: of every token, special ones included.
    """

    name: str
    title: str
    relevance: Numbers


@dataclass(frozen=True)
class MapLayout:
    """Grid of maps of equal width, row by row.

    Attributes:
        side: width of a map.
        columns: number of maps in a row.
        before: number of free cells before the first map.
    """

    ground: ImageGround
    panels: Sequence[Panel]
    side: int
    columns: int
    before: int = 0

    @cached_property
    def tall(self) -> int:
        """Height of a map, in the proportions of the picture."""
        width, height = self.ground.size
        return max(round(self.side * height / width), 1)

    @property
    def patch(self) -> tuple[float, float]:
        return self.side / self.ground.columns, self.tall / self.ground.rows

    @property
    def width(self) -> int:
        return self.columns * (self.side + GAP) - GAP

    @property
    def height(self) -> int:
        return math.ceil((len(self.panels) + self.before) / self.columns) * self._step

    @property
    def _step(self) -> int:
        """Distance from the top of a map to that of the map below."""
        return _TITLE + self.tall + _FOOT

    @property
    def axes(self) -> dict[str, Any]:
        """Axes in pixels, with y pointing down."""
        across, down = ([0, length] for length in (self.width, self.height))
        pixels = {"nice": False, "padding": 0}
        return {
            "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=across, **pixels)),
            "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=down, range=down, **pixels)),
        }

    def corners(self) -> pd.DataFrame:
        """Upper left corner of every map: x, y."""
        return self.corners_of(np.arange(len(self.panels)) + self.before)

    def corners_of(self, order: np.ndarray) -> pd.DataFrame:
        """Upper left corner of cells by their numbers from 0, free cells included: x, y."""
        x = order % self.columns * float(self.side + GAP)
        return pd.DataFrame({"x": x, "y": order // self.columns * self._step + _TITLE})

    def cells(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of patches, map by map, with the centre of each as x and y."""
        corners = self.corners().loc[np.repeat(np.arange(len(self.panels)), self.ground.n_patches)]
        wide, tall = self.patch
        return frame.assign(
            x=corners["x"].to_numpy() + (frame["column"] - 0.5) * wide,
            y=corners["y"].to_numpy() + (frame["row"] - 0.5) * tall,
        )

    def outline(self) -> pd.DataFrame:
        """Outline of the mask on every map: x, y, x2, y2."""
        wide, tall = self.patch
        edges = self.ground.outline().merge(self.corners(), how="cross", suffixes=("", "_corner"))
        across = {end: edges["x_corner"] + edges[end] * wide for end in ("x", "x2")}
        down = {end: edges["y_corner"] + edges[end] * tall for end in ("y", "y2")}
        return pd.DataFrame(across | down)
