"""Every head by how its attention leans over relative positions (figure 1)."""

import pandas as pd
import streamlit as st

from analysis.tables.positions import (
    patch_offset,
    relative_position_centre,
    relative_position_cluster,
    relative_position_profile,
)
from pages.positions import patch_map
from pages.positions.centre_charts import centre_charts, explained_chart
from pages.positions.cluster_names import cluster_colours, cluster_name
from pages.positions.head_choice import follow_click, head_row
from pages.positions.head_grid import profile_grid, share_grid
from pages.ui.about import about
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask, require, shows_images
from pages.ui.words.numbers import percent
from pages.ui.words.offsets import is_causal
from pages.ui.words.say import say

_GRID, _PROFILES = "po_clusters", "po_profiles"
_PAPER = 6
_SURE = 0.9  # share of the texts from which on a head does not depend on the text


def show() -> None:
    require(
        relative_position_centre.TABLE,
        relative_position_cluster.TABLE,
        relative_position_profile.TABLE,
    )
    follow_click(_GRID)
    follow_click(_PROFILES)
    st.header(say("positions_head.heads.title"), anchor=False)
    explained = ask(relative_position_centre.explained)
    k = _pick_k(explained)
    shares = ask(relative_position_cluster.shares, k=k)
    centres = ask(relative_position_centre.centres, k=k)
    colours = cluster_colours(list(dict.fromkeys(centres["cluster"])))
    names = {cluster_name(each): colour for each, colour in colours.items()}
    st.markdown(_finding(shares))
    if is_causal():
        st.markdown(say("positions_head.causal"))
    layer, head = head_row()
    _grid(_named(shares), names, k=k, marked=(layer, head))
    _centres(_named(centres), names, k)
    _profiles(shares, names, k=k, marked=(layer, head))
    if shows_images():
        patch_map.show(layer, head)
    _explained(explained, k)
    about(
        relative_position_cluster.TABLE,
        relative_position_centre.TABLE,
        relative_position_profile.TABLE,
        *([patch_offset.TABLE] * shows_images()),
    )


def _pick_k(explained: pd.DataFrame) -> int:
    """The number of clusters; small corpora have fewer to choose from."""
    options = [int(each) for each in explained["k"]]
    return pick(
        "po_k",
        say("positions_head.heads.k"),
        options,
        default=_PAPER if _PAPER in options else options[-1],
        kind="pills",
        help=say("positions_head.heads.k_help"),
    )


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(name=frame["cluster"].map(cluster_name))


def _dominant(shares: pd.DataFrame) -> pd.DataFrame:
    """The cluster that most texts of a head fall to."""
    return shares.loc[shares.groupby(["layer", "head"])["share"].idxmax()]


def _finding(shares: pd.DataFrame) -> str:
    """How many heads fall to one cluster whatever the text, and where the most heads are."""
    dominant = _dominant(shares)
    sizes = dominant["cluster"].value_counts()
    unsure = dominant.nsmallest(1, "share").iloc[0]
    sure = int((dominant["share"] >= _SURE).sum())
    kind = "same" if sure > len(dominant) / 2 else "differ"
    return say(
        f"positions_head.heads.finding_{kind}",
        sure=sure,
        n=len(dominant),
        most=percent(_SURE),
        cluster=cluster_name(str(sizes.index[0])),
        many=int(sizes.iloc[0]),
        head=head_name(int(unsure["layer"]), int(unsure["head"])),
        share=percent(unsure["share"]),
    )


def _grid(shares: pd.DataFrame, names: dict[str, str], *, k: int, marked: tuple[int, int]) -> None:
    clickable(
        share_grid(shares, names=names, marked=marked),
        _GRID,
        key=f"po_clusters_{k}_{marked[0]}_{marked[1]}",
        question=say("positions_head.heads.grid"),
        caption=say("positions_head.heads.grid_caption"),
        frame=shares,
    )


def _centres(centres: pd.DataFrame, names: dict[str, str], k: int) -> None:
    question = say("positions_head.heads.centres")
    figure(
        centre_charts(centres, names),
        key=f"po_centres_{k}",
        question=question,
        caption=say("positions_head.heads.centres_caption"),
        frame=centres,
        alt=question,
    )


def _profiles(
    shares: pd.DataFrame, names: dict[str, str], *, k: int, marked: tuple[int, int]
) -> None:
    """The mean profile of every head in the colour of the cluster that most texts fall to."""
    place = st.container()
    scale = pick(
        "po_height",
        say("positions_head.heads.scale"),
        ["own", "shared"],
        default="own",
        format=lambda each: say(f"positions_head.heads.scale_{each}"),
    )
    dominant = _named(_dominant(shares))[["layer", "head", "cluster", "name"]]
    profiles = ask(relative_position_profile.all_heads).dropna(subset="attention")
    frame = profiles.merge(dominant, on=["layer", "head"])
    with place:
        clickable(
            profile_grid(frame, names=names, marked=marked, own_scale=scale == "own"),
            _PROFILES,
            key=f"po_profiles_{k}_{scale}_{marked[0]}_{marked[1]}",
            question=say("positions_head.heads.profiles"),
            caption=say(f"positions_head.heads.profiles_caption_{scale}"),
            frame=frame,
        )


def _explained(explained: pd.DataFrame, k: int) -> None:
    question = say("positions_head.heads.explained_question")
    figure(
        explained_chart(explained, k),
        key=f"po_explained_{k}",
        question=question,
        caption=say("positions_head.heads.explained_caption"),
        frame=explained,
        alt=question,
    )
