"""Where a head looks in images, in rows and columns: reading order alone would mix rows."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables import image
from analysis.tables.positions import patch_offset
from pages.ui.charts.look import ramp
from pages.ui.figure import figure
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.offsets import PEAK_COLOUR, offset_told
from pages.ui.words.say import say

_CELL = 28  # side, in pixels


def show(layer: int, head: int) -> None:
    """The map of one head, or which statistic it needs."""
    name = patch_offset.TABLE.name
    if not open_store().rows.get(name):
        st.info(say("positions_head.patches.missing", statistic=name))
        return
    frame = ask(patch_offset.of_head, layer=layer, head=head)
    best = _preferred(layer, head)
    question = say("positions_head.patches.question", head=head_name(layer, head))
    figure(
        patch_map(frame, best),
        key=f"po_patches_{layer}_{head}",
        question=question,
        caption=f"{_finding(frame, best)} {say('positions_head.patches.caption')}",
        frame=frame,
        alt=question,
        width="content",
    )


def _preferred(layer: int, head: int) -> pd.Series:
    heads = ask(patch_offset.preferred)
    return heads[(heads["layer"] == layer) & (heads["head"] == head)].iloc[0]


def _finding(frame: pd.DataFrame, best: pd.Series) -> str:
    """The preferred offset, on how many pairs it rests, and what offsets have on average."""
    grid = ask(image.grid).iloc[0]
    down, right = int(best["row_offset"]), int(best["column_offset"])
    return say(
        "positions_head.patches.finding",
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


def patch_map(frame: pd.DataFrame, best: pd.Series) -> Any:
    """A cell per offset, the patch itself in the middle (a dot), the preferred one framed.

    Args:
        frame: rows row_offset, column_offset, attention, attention_per_pair.
        best: its row_offset and column_offset are those of the framed cell.
    """
    told = {
        name: say(f"positions_head.patches.{name}")
        for name in ("rows", "columns", "per_pair", "attention")
    }
    base = alt.Chart(frame).encode(
        x=_axis("x", frame, "column_offset"), y=_axis("y", frame, "row_offset")
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "attention_per_pair:Q",
            title=told["per_pair"],
            scale=alt.Scale(scheme="viridis", domainMin=0),
            legend=ramp(".2~%"),
        ),
        tooltip=[
            alt.Tooltip("row_offset:Q", title=told["rows"], format="+d"),
            alt.Tooltip("column_offset:Q", title=told["columns"], format="+d"),
            alt.Tooltip("attention_per_pair:Q", title=told["per_pair"], format=".2%"),
            alt.Tooltip("attention:Q", title=told["attention"], format=".2%"),
        ],
    )
    ring = base.transform_filter(_at(best["row_offset"], best["column_offset"]))
    centre = base.transform_filter(_at(0, 0))
    return alt.layer(
        cells,
        ring.mark_rect(filled=False, stroke=PEAK_COLOUR, strokeWidth=2.5, tooltip=False),
        centre.mark_point(
            shape="circle", size=36, color="#ffffff", stroke="#000000", filled=True, tooltip=False
        ),
    ).properties(
        autosize=alt.AutoSizeParams(type="pad"),
        width=_CELL * frame["column_offset"].nunique(),
        height=_CELL * frame["row_offset"].nunique(),
    )


def _at(row: float, column: float) -> Any:
    return (alt.datum["row_offset"] == int(row)) & (alt.datum["column_offset"] == int(column))


def _axis(side: str, frame: pd.DataFrame, name: str) -> Any:
    """Whole offsets with their signs; rows below the patch stand below it."""
    written = "datum.value == 0 ? '0' : format(datum.value, '+d')"
    axis = alt.Axis(labelExpr=written, labelAngle=0, ticks=False, labelFlush=False)
    title = say(f"positions_head.patches.{'columns' if side == 'x' else 'rows'}")
    encoding = alt.X if side == "x" else alt.Y
    return encoding(f"{name}:O", title=title, sort=sorted(set(frame[name])), axis=axis)
