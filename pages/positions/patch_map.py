"""Where a head looks in images, in rows and columns: reading order alone would mix rows."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables import image
from analysis.tables.positions import patch_offset
from pages.positions.offsets import offset_axis
from pages.ui.charts.colours import INKS
from pages.ui.charts.heat_map import heat_map
from pages.ui.charts.look import with_axes
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.offsets import offset_told

_CELL = 28  # side, in pixels


def patch_map(view: View, layer: int, head: int) -> None:
    """The map of one head, or which statistic it needs."""
    name = patch_offset.TABLE.name
    if not open_store().rows.get(name):
        st.info(view.say("patches_missing", statistic=name))
        return
    frame = ask(patch_offset.of_head, layer=layer, head=head)
    heads = ask(patch_offset.preferred)
    best = heads[(heads["layer"] == layer) & (heads["head"] == head)].iloc[0]
    view.figure(
        "patches",
        frame,
        _chart(frame.rename(columns={"attention": "part"}), best),
        state=f"{layer}_{head}",
        caption=f"{_finding(view, frame, best)} {view.say('patches_caption')}",
        width="content",
        head=head_name(layer, head),
    )


def _finding(view: View, frame: pd.DataFrame, best: pd.Series) -> str:
    """The preferred offset, on how many pairs it rests, and what offsets have on average."""
    grid = ask(image.grid).iloc[0]
    down, right = int(best["row_offset"]), int(best["column_offset"])
    return view.say(
        "patches_finding",
        rows=offset_told(down),
        columns=offset_told(right),
        attention=_percent(best["attention_per_pair"]),
        mean=_percent(best["mean_per_pair"]),
        pairs=int((grid["rows"] - abs(down)) * (grid["columns"] - abs(right))),
        offsets=len(frame),
        n=f"{int(best['n_images']):,}",
    )


def _percent(share: float) -> str:
    """With a decimal, since the attention of one pair in hundreds of patches is small."""
    return f"{100 * share:.1f} %"


def _chart(frame: pd.DataFrame, best: pd.Series) -> Any:
    """A cell per offset, the patch itself in the middle (a dot), the preferred one framed; rows
    below the patch stand below it.

    Args:
        frame: rows row_offset, column_offset, attention_per_pair, part.
        best: its row_offset and column_offset are those of the framed cell.
    """
    cells = heat_map(
        frame,
        x="column_offset",
        y="row_offset",
        value="attention_per_pair",
        title=title("attention_per_pair"),
        domain=(0, float(frame["attention_per_pair"].max()) or 1.0),
        format=".2~%",
        tooltip=("part",),
        marked=(int(best["row_offset"]), int(best["column_offset"])),
    )
    cells = with_axes(cells, x=offset_axis(ticks=False), y=offset_axis(ticks=False))
    itself = alt.Chart(pd.DataFrame({"row_offset": [0], "column_offset": [0]}))
    dot = itself.mark_point(size=36, filled=True, color=INKS[1], stroke=INKS[0], tooltip=False)
    return alt.layer(cells, dot.encode(x="column_offset:O", y="row_offset:O")).properties(
        autosize=alt.AutoSizeParams(type="pad"),
        width=_CELL * frame["column_offset"].nunique(),
        height=_CELL * frame["row_offset"].nunique(),
    )
