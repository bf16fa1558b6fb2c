"""Clusters of heads by attention over relative positions (figure 1).

Images use rows and columns: reading order alone would mix rows.
"""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics import image
from analysis.statistics.positions import patch_offset, relative_position_profile
from pages.positions.clusters import centre_charts, cluster_colours, cluster_name, explained_chart
from pages.positions.head_grid import profile_grid, share_grid
from pages.positions.offsets import head_row, offset_axis
from pages.ui.charts.chart_theme import Chart, layered, with_axes
from pages.ui.charts.colours import INKS
from pages.ui.charts.heat_map import heat_map
from pages.ui.head.choice import Head, head_name, head_of, row_of, to_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.numbers import count, offset_label, percent

_PAPER = 6
_SURE = 0.9  # least share of texts in one cluster for a head independent of the text
_CELL = 28  # side of a patch, in pixels


@section(
    "heads",
    relative_position_profile.CLUSTERS,
    relative_position_profile.CENTRES,
    relative_position_profile.TABLE,
    also=(patch_offset.TABLE,),
)
def heads(view: View) -> None:
    explained = view.ask(relative_position_profile.explained)
    options = [int(number) for number in explained["k"]]  # small corpora have fewer to choose from
    k = view.pick("k", options, default=_PAPER if _PAPER in options else options[-1])
    shares = view.ask(relative_position_profile.shares, k=k)
    centres = view.ask(relative_position_profile.centres, k=k)
    for frame in (shares, centres):
        frame["name"] = frame["cluster"].map(cluster_name)
    by_cluster = cluster_colours(list(dict.fromkeys(centres["cluster"])))
    colours = {cluster_name(cluster): colour for cluster, colour in by_cluster.items()}
    dominant = shares.loc[shares.groupby(["layer", "head"])["share"].idxmax()]
    view.finding(_finding(view, dominant))
    if view.store.is_causal:
        view.finding(view.say("causal"))
    marked = head_row(view)
    grid = share_grid(shares, colours=colours, marked=marked)
    view.figure("grid", shares, grid, state=(k, *marked), click=to_head)
    view.figure("centres", centres, centre_charts(centres, colours), state=k)
    _profiles(view, dominant, colours, marked, k)
    if view.store.shows_images:
        _patches(view, *marked)
    view.figure("explained", explained, explained_chart(explained, k), state=k)


def _finding(view: View, dominant: pd.DataFrame) -> str:
    """Count the heads with one cluster in nearly all texts, and name the largest cluster."""
    sizes = dominant["name"].value_counts()
    unsure = dominant.nsmallest(1, "share").iloc[0]
    sure = int((dominant["share"] >= _SURE).sum())
    return view.say(
        "finding",
        sure=sure,
        n=len(dominant),
        most=percent(_SURE),
        cluster=sizes.index[0],
        many=int(sizes.iloc[0]),
        head=head_of(unsure),
        share=percent(unsure["share"]),
    )


def _profiles(
    view: View, dominant: pd.DataFrame, colours: dict[str, str], marked: Head, k: int
) -> None:
    """Draw the mean profile of every head in the colour of its most frequent cluster."""
    place = view.place("container")
    height = view.pick("height", ["own", "shared"])
    profiles = view.ask(relative_position_profile.all_heads)
    clusters = dominant[["layer", "head", "cluster", "name"]]
    frame = profiles.merge(clusters, on=["layer", "head"])
    chart = profile_grid(frame, colours=colours, marked=marked, own_scale=height == "own")
    state, caption = (height, k, *marked), view.say(f"profiles_caption_{height}")
    with place:
        view.figure("profiles", frame, chart, state=state, click=to_head, caption=caption)


def _patches(view: View, layer: int, head: int) -> None:
    """Draw one head's attention by row and column offset, or name the missing statistic."""
    held = view.store.holds(patch_offset.TABLE)
    best = row_of(view.ask(patch_offset.preferred), layer, head) if held else None
    if best is None:
        return view.nothing("patches_missing", statistic=patch_offset.TABLE.name)
    frame = view.ask(patch_offset.of_head, layer=layer, head=head)
    view.figure(
        "patches",
        frame,
        _patch_map(frame.rename(columns={"attention": "part"}), best),
        state=f"{layer}_{head}",
        caption=f"{_patch_finding(view, frame, best)} {view.say('patches_caption')}",
        width="content",
        head=head_name(layer, head),
    )


def _patch_finding(view: View, frame: pd.DataFrame, best: pd.Series) -> str:
    """Report the preferred offset, its number of patch pairs, and the mean over offsets."""
    grid = view.ask(image.grid).iloc[0]
    down, right = int(best["row_offset"]), int(best["column_offset"])
    return view.say(
        "patches_finding",
        rows=offset_label(down),
        columns=offset_label(right),
        attention=percent(best["attention_per_pair"], digits=1),
        mean=percent(best["mean_per_pair"], digits=1),
        pairs=int((grid["rows"] - abs(down)) * (grid["columns"] - abs(right))),
        offsets=len(frame),
        n=count(best["n_images"]),
    )


def _patch_map(frame: pd.DataFrame, best: pd.Series) -> Any:
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
