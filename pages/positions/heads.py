"""Clusters of heads by attention over relative positions (figure 1), of texts alone."""

import pandas as pd

from analysis.statistics.positions import relative_position_profile
from pages.positions.clusters import centre_charts, cluster_colours, cluster_name, explained_chart
from pages.positions.head_grid import profile_grid, share_grid
from pages.positions.offsets import head_row
from pages.ui.head.choice import Head, head_of, to_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.numbers import percent

_PAPER = 6
_SURE = 0.9  # least share of texts in one cluster for a head independent of the text


@section(
    "heads",
    relative_position_profile.CLUSTERS,
    relative_position_profile.CENTRES,
    relative_position_profile.TABLE,
    when=lambda store: not store.shows_images,
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
