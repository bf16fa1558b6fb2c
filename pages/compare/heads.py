"""Matching of the heads of two files by their attention distributions."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.comparison.matching import (
    PROFILES,
    Matching,
    divergences,
    head_profiles,
    matched_heads,
)
from pages.compare.files import can_compare_heads, pick_sides, texts_sentence
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import NEUTRAL, SERIES_COLOURS
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import signed
from pages.ui.words.say import plain

_SIDE, _BARS = 420, 300  # pixels across
_HIGH = 300
_KINDS = ("matched", "same", "chance")


@section("heads", also=tuple(PROFILES.values()), when=can_compare_heads)
def heads(view: View) -> None:
    sides = pick_sides(view, "heads")
    first, other = sides
    held = [name for name, table in PROFILES.items() if first.holds(table)]
    offered = [name for name in held if other.holds(PROFILES[name])]
    if not offered:
        view.end("no_profile", tables=", ".join(table.name for table in PROFILES.values()))
    profile = view.pick("profile", offered)
    own, beside = (view.asked.ask(side, head_profiles, profile=profile) for side in sides)
    beside = beside.reindex(index=own.index, columns=own.columns, fill_value=0.0)
    matching = matched_heads(divergences(own.to_numpy(), beside.to_numpy()))
    frame = _frame(own.index, matching)
    view.finding(_finding(view, sides, frame, matching))
    view.finding(texts_sentence(view, sides))
    shown, means = _with_kinds(view, frame), _means(view, matching)
    exported = pd.concat([shown, means], ignore_index=True)
    view.figure(
        "matching",
        exported.astype(dict.fromkeys(("place", "match", "layer"), "Int64")),
        alt.hconcat(_map(shown), _bars(means), spacing=24),
        state=(profile, other.key),
        first=plain(first.label),
        other=plain(other.label),
        profile=view.say(f"by_{profile}"),
    )
    columns: dict[str, str | None] = {"own": None, "matched_with": None}
    columns |= dict.fromkeys(("divergence", "to_itself"), "%.4f")
    moved = frame[~frame["is_same"]].sort_values("divergence", ascending=False)
    if len(moved):
        view.table("moved", moved, columns, state=(profile, other.key))


def _frame(index: pd.MultiIndex, matching: Matching) -> pd.DataFrame:
    """A row per head of the open file with the head that it is matched with."""
    names = np.array([head_name(int(layer), int(head)) for layer, head in index])
    return pd.DataFrame(
        {
            "place": np.arange(1, len(index) + 1),
            "own": names,
            "match": matching.match + 1,
            "matched_with": names[matching.match],
            "divergence": matching.divergence,
            "to_itself": matching.to_itself,
            "is_same": matching.match == np.arange(len(index)),
            "layer": index.get_level_values("layer").astype(int),
        }
    )


def _finding(view: View, sides: list[Store], frame: pd.DataFrame, matching: Matching) -> str:
    return view.say(
        "finding",
        same=int(frame["is_same"].sum()),
        of=len(frame),
        first=plain(sides[0].label),
        other=plain(sides[1].label),
        matched=signed(matching.matched, digits=4),
        itself=signed(matching.same, digits=4),
        chance=signed(matching.chance, digits=4),
    )


def _with_kinds(view: View, frame: pd.DataFrame) -> pd.DataFrame:
    """Replace `is_same` by the kind of each match; heads matched with themselves come first."""
    names = {True: view.say("is_same"), False: view.say("is_other")}
    kinds = pd.Categorical(frame["is_same"].map(names), categories=list(names.values()))
    return frame.assign(kind=kinds).drop(columns="is_same")


def _map(shown: pd.DataFrame) -> Any:
    """Draw every head against its match."""
    domain, axis = [0, len(shown) + 1], _layer_axis(shown)
    scale = alt.Scale(domain=domain, nice=False)
    points = (
        Chart(shown)
        .mark_circle(size=60, opacity=0.9)
        .encode(
            x=alt.X("place:Q", title=title("place"), scale=scale, axis=axis),
            y=alt.Y("match:Q", title=title("match"), scale=scale, axis=axis),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(
                    domain=list(shown["kind"].cat.categories), range=list(SERIES_COLOURS[:2])
                ),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=tooltips(
                dict.fromkeys(("own", "matched_with", "divergence", "to_itself")), shown, ".4f"
            ),
        )
    )
    ends = pd.DataFrame({"place": domain, "match": domain})
    diagonal = Chart(ends).mark_line(color=NEUTRAL, strokeDash=[4, 4], tooltip=False)
    diagonal = diagonal.encode(x=alt.X("place:Q"), y=alt.Y("match:Q"))
    return layered(diagonal, points, width=_SIDE, height=_HIGH)


def _layer_axis(frame: pd.DataFrame) -> alt.Axis:
    """Axis with the number of each layer at the centre of its heads."""
    numbers = sorted(frame["layer"].unique().tolist())
    n_heads = int((frame["layer"] == numbers[0]).sum())
    middle = (n_heads + 1) / 2
    places = [n_heads * index + middle for index in range(len(numbers))]
    label = f"{numbers}[(datum.value - {middle}) / {n_heads}]"
    return alt.Axis(values=places, labelExpr=label, grid=False, labelAngle=0)


def _means(view: View, matching: Matching) -> pd.DataFrame:
    """Mean divergence of the matching, of each head from itself, and of any two heads."""
    names = [view.say(f"mean_{kind}") for kind in _KINDS]
    means = [getattr(matching, kind) for kind in _KINDS]
    return pd.DataFrame({"name": names, "divergence": means})


def _bars(means: pd.DataFrame) -> Any:
    """Draw the mean divergences as bars."""
    order, plain = means["name"].tolist(), alt.Axis(labelLimit=0, ticks=False)
    base = Chart(means, width=_BARS, height=_HIGH).encode(
        y=alt.Y("name:N", sort=order, title=None, axis=plain),
        tooltip=tooltips(dict.fromkeys(("name", "divergence")), means, ".4f"),
    )
    x = alt.X("divergence:Q", title=title("divergence"), axis=alt.Axis(tickCount=4))
    return base.mark_bar(color=SERIES_COLOURS[0], cornerRadiusEnd=2, height=28).encode(x=x)
