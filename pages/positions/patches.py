"""Attention of one head to patches by rows and columns apart: reading order would mix rows."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics import image
from analysis.statistics.positions import head_offset, patch_offset
from pages.positions.offsets import head_row
from pages.ui.charts.chart_theme import Chart, layered, with_axes
from pages.ui.charts.colours import INKS
from pages.ui.charts.encodings import offset_axis
from pages.ui.charts.heat_map import heat_map
from pages.ui.head.choice import head_name, row_of
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.numbers import count, offset_label, percent

_CELL = 28  # side of a patch, in pixels


@section(
    "patches", patch_offset.TABLE, also=(head_offset.TABLE,), when=lambda store: store.shows_images
)
def patches(view: View) -> None:
    layer, head = head_row(view)
    best = row_of(view.ask(patch_offset.preferred), layer, head)
    if best is None:
        return
    frame = view.ask(patch_offset.of_head, layer=layer, head=head)
    view.finding(_finding(view, frame, best))
    view.figure(
        "map",
        frame,
        _map(frame.rename(columns={"attention": "part"}), best),
        state=f"{layer}_{head}",
        width="content",
        head=head_name(layer, head),
    )


def _finding(view: View, frame: pd.DataFrame, best: pd.Series) -> str:
    """Report the preferred offset, its number of patch pairs, and the mean over offsets."""
    grid = view.ask(image.grid).iloc[0]
    down, right = int(best["row_offset"]), int(best["column_offset"])
    return view.say(
        "finding",
        rows=offset_label(down),
        columns=offset_label(right),
        attention=percent(best["attention_per_pair"], digits=1),
        mean=percent(best["mean_per_pair"], digits=1),
        pairs=int((grid["rows"] - abs(down)) * (grid["columns"] - abs(right))),
        offsets=len(frame),
        n=count(best["n_images"]),
    )


def _map(frame: pd.DataFrame, best: pd.Series) -> Any:
    """Draw a cell per offset, rows downwards, with a dot at the patch itself.

    The preferred offset is framed.
    """
    cells = heat_map(
        frame,
        x="column_offset",
        y="row_offset",
        value="attention_per_pair",
        format=".2~%",
        tooltip=("part",),
        marked=(int(best["row_offset"]), int(best["column_offset"])),
    )
    cells = with_axes(cells, x=offset_axis(ticks=False), y=offset_axis(ticks=False))
    itself = Chart(pd.DataFrame({"row_offset": [0], "column_offset": [0]}))
    dot = itself.mark_point(size=36, filled=True, color=INKS[1], stroke=INKS[0], tooltip=False)
    return layered(
        cells,
        dot.encode(x=alt.X("column_offset:O"), y=alt.Y("row_offset:O")),
        autosize=alt.AutoSizeParams(type="pad"),
        width=_CELL * frame["column_offset"].nunique(),
        height=_CELL * frame["row_offset"].nunique(),
    )
