"""Where on a chart of many maps everything stands, in pixels from its upper left corner."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.ui.charts.image_ground import ImageGround

GAP, TITLE_RISE = 16, 10
_TITLE, _BAR_GAP, BAR, _FOOT = 24, 5, 6, 30


@dataclass(frozen=True)
class Panel:
    """One map.

    Attributes:
        name: what a click on it tells.
        title: what stands above it.
        relevance: of every token, special ones included.
    """

    name: str
    title: str
    relevance: Sequence[float]


@dataclass(frozen=True)
class MapLayout:
    """Maps of one width, row by row.

    Attributes:
        side: width of a map.
        columns: maps beside each other.
        n: maps in all.
        before: cells that are left free before the first map.
    """

    ground: ImageGround
    side: int
    columns: int
    n: int
    before: int = 0

    @cached_property
    def tall(self) -> int:
        """Height of a map: that of the picture in proportion."""
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
        return math.ceil((self.n + self.before) / self.columns) * (_TITLE + self.tall + _FOOT)

    @property
    def axes(self) -> dict[str, Any]:
        """Pixels are drawn as pixels, downwards."""
        across, down = ([0, each] for each in (self.width, self.height))
        told = {"nice": False, "padding": 0}
        return {
            "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=across, **told)),
            "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=down, range=down, **told)),
        }

    def corners(self) -> pd.DataFrame:
        """Upper left corner of every map: left, top."""
        return self._corners(np.arange(self.n) + self.before)

    def first_corner(self) -> pd.DataFrame:
        """Upper left corner of the first cell."""
        return self._corners(np.arange(1))

    def _corners(self, order: np.ndarray) -> pd.DataFrame:
        step = _TITLE + self.tall + _FOOT
        return pd.DataFrame(
            {
                "left": order % self.columns * float(self.side + GAP),
                "top": order // self.columns * float(step) + _TITLE,
            }
        )

    def cells(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of patches, map by map, with the middle of each as x and y."""
        corners = self.corners().loc[np.repeat(np.arange(self.n), self.ground.n_patches)]
        wide, tall = self.patch
        return frame.assign(
            x=corners["left"].to_numpy() + (frame["column"] - 0.5) * wide,
            y=corners["top"].to_numpy() + (frame["row"] - 0.5) * tall,
        )

    def outline(self) -> pd.DataFrame:
        """The mask's outline on every map: x, y, x2, y2."""
        edges, (wide, tall) = self.ground.outline(), self.patch
        found = edges.merge(self.corners(), how="cross")
        return pd.DataFrame(
            {
                "x": found["left"] + found["x"] * wide,
                "x2": found["left"] + found["x2"] * wide,
                "y": found["top"] + found["y"] * tall,
                "y2": found["top"] + found["y2"] * tall,
            }
        )

    def titles(self) -> pd.DataFrame:
        """Where titles begin: x, y."""
        corners = self.corners()
        return pd.DataFrame({"x": corners["left"], "y": corners["top"] - TITLE_RISE})

    def feet(self) -> pd.DataFrame:
        """Where bars begin: x, y of their middle, and below of the words under them."""
        corners = self.corners()
        bottom = corners["top"] + self.tall + _BAR_GAP
        return pd.DataFrame(
            {"x": corners["left"], "y": bottom + BAR / 2, "below": bottom + BAR + 10}
        )
