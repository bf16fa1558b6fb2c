"""Every head by how its attention leans over relative positions (figure 1)."""

import pandas as pd
import streamlit as st

from analysis.tables.positions import (
    patch_offset,
    relative_position_centre,
    relative_position_cluster,
    relative_position_profile,
)
from pages.positions.clusters import centre_charts, cluster_colours, cluster_name, explained_chart
from pages.positions.head_choice import head_row
from pages.positions.head_grid import profile_grid, share_grid
from pages.positions.patch_map import patch_map
from pages.ui.head.choice import Head, follow_head_click, head_name
from pages.ui.page import section
from pages.ui.store.chosen import ask, is_causal, shows_images
from pages.ui.view import View
from pages.ui.words.numbers import percent

_PAPER = 6
_SURE = 0.9  # share of the texts from which on a head does not depend on the text


@section(
    "heads",
    relative_position_cluster.TABLE,
    relative_position_centre.TABLE,
    relative_position_profile.TABLE,
    also=(patch_offset.TABLE,),
)
def heads(view: View) -> None:
    for chart in ("grid", "profiles"):
        follow_head_click(view.key(chart))
    explained = ask(relative_position_centre.explained)
    options = [int(each) for each in explained["k"]]  # small corpora have fewer to choose from
    k = view.pick("k", options, default=_PAPER if _PAPER in options else options[-1])
    shares = _named(ask(relative_position_cluster.shares, k=k))
    centres = _named(ask(relative_position_centre.centres, k=k))
    by_cluster = cluster_colours(list(dict.fromkeys(centres["cluster"])))
    colours = {cluster_name(each): colour for each, colour in by_cluster.items()}
    dominant = shares.loc[shares.groupby(["layer", "head"])["share"].idxmax()]
    view.finding(_finding(view, dominant))
    if is_causal():
        view.finding(view.say("causal"))
    marked = head_row(view)
    state = f"{k}_{marked[0]}_{marked[1]}"
    grid = share_grid(shares, colours=colours, marked=marked)
    view.figure("grid", shares, grid, state=state, click=True)
    view.figure("centres", centres, centre_charts(centres, colours), state=k)
    _profiles(view, dominant, colours, marked, state)
    if shows_images():
        patch_map(view, *marked)
    view.figure("explained", explained, explained_chart(explained, k), state=k)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(name=frame["cluster"].map(cluster_name))


def _finding(view: View, dominant: pd.DataFrame) -> str:
    """How many heads fall to one cluster whatever the text, and where the most heads are.

    Args:
        dominant: the cluster that most texts of a head fall to.
    """
    sizes = dominant["name"].value_counts()
    unsure = dominant.nsmallest(1, "share").iloc[0]
    sure = int((dominant["share"] >= _SURE).sum())
    return view.say(
        f"finding_{'same' if sure > len(dominant) / 2 else 'differ'}",
        sure=sure,
        n=len(dominant),
        most=percent(_SURE),
        cluster=sizes.index[0],
        many=int(sizes.iloc[0]),
        head=head_name(int(unsure["layer"]), int(unsure["head"])),
        share=percent(unsure["share"]),
    )


def _profiles(
    view: View, dominant: pd.DataFrame, colours: dict[str, str], marked: Head, state: str
) -> None:
    """The mean profile of every head in the colour of the cluster that most texts fall to."""
    place = st.container()
    height = view.pick("height", ["own", "shared"])
    profiles = ask(relative_position_profile.all_heads).dropna(subset="attention")
    clusters = dominant[["layer", "head", "cluster", "name"]]
    frame = profiles.merge(clusters, on=["layer", "head"])
    chart = profile_grid(frame, colours=colours, marked=marked, own_scale=height == "own")
    caption = view.say(f"profiles_caption_{height}")
    with place:
        view.figure(
            "profiles", frame, chart, state=f"{height}_{state}", click=True, caption=caption
        )
