"""Map of one head's attention to patches by rows and columns apart."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, layered, with_axes
from pages.charts.colours import INKS
from pages.charts.encodings import offset_axis
from pages.charts.heat_map import heat_map
from pages.kit.kinds import Custom
from pages.kit.section import Choices

_CELL = 28  # side of a patch, in pixels


def patch_map(frame: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw a cell per offset, rows downwards, with a dot at the patch itself.

    The preferred offset is framed: that of most attention per pair, of equal ones the nearest.
    """
    far = frame["row_offset"].abs() + frame["column_offset"].abs()
    best = frame.assign(far=-far).nlargest(1, ["attention_per_pair", "far"]).iloc[0]
    cells = heat_map(
        frame.rename(columns={"attention": "part"}),
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


PATCH_MAP = Custom(
    chart=patch_map,
    value="attention_per_pair",
    format=".2%",
    marks=("row_offset", "column_offset"),
)
