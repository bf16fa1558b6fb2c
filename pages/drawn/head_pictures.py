"""Small pictures of all heads: one clickable cell per layer and head."""

import base64
from io import BytesIO
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from pages.charts.chart_theme import Chart, cell_selection, layered, tooltips
from pages.charts.colours import MARKED
from pages.charts.maps import CELL
from pages.words.columns import title

_ROOM = (384, 330)  # pixels: width and height of all cells
_LEAST, _LARGEST = 14, 80  # pixels to a side of a cell
_SHARP = 64  # pixels to a side of a picture at least
_APART = 0.08  # of a cell, between pictures


def pictures_of_heads(
    frame: pd.DataFrame,
    shares: np.ndarray,
    colour: str,
    *,
    marked: tuple[int, int],
    contours: str | None,
) -> Any:
    """Draw a picture per head, the stronger the larger its shares, with a frame around one head.

    Args:
        frame: a row per head: layer, head, and what its tooltip tells.
        shares: of 1, by layer, head, row and column.
        contours: address of a picture that lies on all of them.
    """
    n_layers, n_heads = shares.shape[:2]
    side = max(_LEAST, min(_ROOM[0] // n_heads, _ROOM[1] // n_layers, _LARGEST))
    pictures = [_picture(one, colour) for one in shares.reshape(-1, *shares.shape[2:])]
    apart = alt.Scale(paddingInner=_APART, paddingOuter=_APART)
    axis = alt.Axis(labelAngle=0, labelOverlap=True, titlePadding=6, domain=False, ticks=False)
    base = Chart(frame.assign(picture=pictures)).encode(
        x=alt.X("head:O", title=title("head"), axis=axis, scale=apart),
        y=alt.Y("layer:O", title=title("layer"), axis=axis, scale=apart),
    )
    inner = round(side * (1 - _APART))
    images = base.mark_image(width=inner, height=inner, aspect=False, tooltip=False)
    cells = base.mark_rect(cursor="pointer", stroke="#8888").encode(
        color=alt.value("transparent"),
        tooltip=tooltips({name: title(str(name)) for name in frame}, frame, ".1%"),
    )
    here = (alt.datum["layer"] == marked[0]) & (alt.datum["head"] == marked[1])
    ring = base.transform_filter(here).mark_rect(
        filled=False, stroke=MARKED, strokeWidth=2.5, tooltip=False
    )
    parts = [images.encode(url="picture:N"), ring]
    if contours:
        parts.insert(1, images.encode(url=alt.value(contours)))
    cells = cells.add_params(cell_selection(CELL, "layer", "head"))
    parts.append(cells.properties(name="heads"))
    chart = layered(*parts, width=side * n_heads, height=side * n_layers)
    chart["autosize"] = alt.AutoSizeParams(type="pad")  # else cells shrink, and not the pictures
    return chart


def _picture(shares: np.ndarray, colour: str) -> str:
    """Picture of shares, finer for small ones: a data URL."""
    drawn = np.empty((*shares.shape, 4), dtype=np.uint8)
    drawn[..., :3] = tuple(bytes.fromhex(colour[1:]))
    drawn[..., 3] = (255 * np.sqrt(np.clip(shares, 0, 1))).round()
    times, written = max(1, -(-_SHARP // max(shares.shape))), BytesIO()
    sharp = drawn.repeat(times, axis=0).repeat(times, axis=1)
    Image.fromarray(sharp).save(written, format="PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"
