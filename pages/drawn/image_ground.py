"""Background of relevance maps: the grid of patches, the picture, and the mask."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BytesIO

import numpy as np
import pandas as pd
from PIL import Image, ImageFilter

from pages.charts.colours import EDGES
from pages.kit.section import rows_of, tokens_of
from pages.services.inquiry import Inquiry

CLASS_TOKENS = frozenset({"[CLS]", "[DIST]"})
_SMOOTHED = 200  # pixels; browsers smooth what they enlarge
_BLUR = 2  # pixels, so that contours are those of things, not of textures
Numbers = Sequence[float] | np.ndarray
"""A number for each token."""
INSIDE = 0.5
"""Least share of a patch inside the mask for a patch drawn as inside."""


@dataclass(frozen=True)
class ImageGround:
    """Image as the model sees it, in patches from left to right and from top to bottom.

    Attributes:
        special: names of the tokens before the first patch.
        picture: a PNG file; None if it is not stored.
        coverage: share of each patch inside the mask, NaN where unknown; None without a mask.
    """

    rows: int
    columns: int
    special: tuple[str, ...]
    picture: bytes | None = None
    coverage: tuple[float, ...] | None = None

    @property
    def n_patches(self) -> int:
        return self.rows * self.columns

    @property
    def class_tokens(self) -> str:
        """Display names of the tokens that the classifier reads; empty without any."""
        return " + ".join(name for name in self.special if name in CLASS_TOKENS)

    @property
    def other_special(self) -> frozenset[str]:
        """Names of the special tokens that the classifier does not read."""
        return frozenset(self.special) - CLASS_TOKENS

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels; without a picture, of the grid."""
        if self.picture is None:
            return self.columns, self.rows
        with Image.open(BytesIO(self.picture)) as opened:
            return opened.size

    def share(self, relevance: Numbers, names: frozenset[str]) -> float:
        """Share of a map of all tokens on special tokens of the given names."""
        pairs = zip(self.special, relevance, strict=False)
        return float(sum(value for name, value in pairs if name in names))

    def patches(self, relevance: Numbers) -> np.ndarray:
        """Part of a map of all tokens that belongs to patches."""
        return np.asarray(relevance, dtype=float)[len(self.special) :][: self.n_patches]

    def places(self) -> pd.DataFrame:
        """Row and column of every patch, from 1."""
        order = np.arange(self.n_patches)
        return pd.DataFrame({"row": order // self.columns + 1, "column": order % self.columns + 1})

    def address(self, *, outlined: bool = False) -> str | None:
        """Data URL of the picture, or of its contours alone."""
        if self.picture is None:
            return None
        png = (_contours if outlined else _enlarged)(self.picture)
        return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"

    def outline(self) -> pd.DataFrame:
        """Edges between patches inside the mask and others, in patches from the upper left corner.

        Returns:
            x, y, x2, y2; empty without a mask.
        """
        edges: list[tuple[int, int, int, int]] = []
        if self.coverage is not None:
            inside = np.nan_to_num(np.asarray(self.coverage, dtype=float)) >= INSIDE
            around = np.pad(inside.reshape(self.rows, self.columns), 1)
            across = np.argwhere(around[1:, 1:-1] != around[:-1, 1:-1])
            along = np.argwhere(around[1:-1, 1:] != around[1:-1, :-1])
            edges = [(int(x), int(y), int(x) + 1, int(y)) for y, x in across]
            edges += [(int(x), int(y), int(x), int(y) + 1) for y, x in along]
        return pd.DataFrame(edges, columns=["x", "y", "x2", "y2"])


def ground_of(inquiry: Inquiry, seq: int) -> ImageGround | None:
    """Background of the maps of a sequence of the open file; None if it is not an image."""
    rows = rows_of("from image where seq = $seq", inquiry, {"seq": seq})
    if rows.empty:
        return None
    row = rows.iloc[0]
    tokens = tokens_of(inquiry, seq)["token"]
    coverage, picture = row["coverage"], row["picture"]
    return ImageGround(
        rows=int(row["grid_rows"]),
        columns=int(row["grid_columns"]),
        special=tuple(tokens[: int(row["first_patch"])]),
        picture=bytes(picture) if isinstance(picture, bytes | bytearray | memoryview) else None,
        coverage=None if coverage is None or np.ndim(coverage) == 0 else tuple(coverage),
    )


@lru_cache(maxsize=64)
def _enlarged(picture: bytes) -> bytes:
    """Enlarge a small picture without smoothing: its pixels become squares."""
    return _written(_as_drawn(picture))


@lru_cache(maxsize=64)
def _contours(picture: bytes) -> bytes:
    """Contours at one and two thirds of the picture's grey range; transparent elsewhere.

    Each contour is dark on a light line, so that it is visible on any colour.
    """
    grey = _as_drawn(picture).convert("L").filter(ImageFilter.GaussianBlur(_BLUR))
    values = np.asarray(grey, dtype=float)
    level = np.digitize(values, np.linspace(values.min(), values.max(), 4)[1:-1])
    line = np.zeros(level.shape, dtype=bool)
    for axis in (0, 1):
        line |= np.diff(level, axis=axis, prepend=np.take(level, [0], axis=axis)) != 0
    around = np.asarray(Image.fromarray(line).convert("L").filter(ImageFilter.MaxFilter(3))) > 0
    drawn = np.zeros((*level.shape, 4), dtype=np.uint8)
    for there, colour in zip((around, line), EDGES, strict=True):
        drawn[there] = (*bytes.fromhex(colour[1:]), 255)
    return _written(Image.fromarray(drawn))


def _as_drawn(picture: bytes) -> Image.Image:
    with Image.open(BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    times = max(_SMOOTHED // max(image.size), 1)
    size = (image.width * times, image.height * times)
    return image.resize(size, Image.Resampling.NEAREST)


def _written(image: Image.Image) -> bytes:
    written = BytesIO()
    image.save(written, format="PNG")
    return written.getvalue()
