"""Clusters of attention profiles: names, colours, centres, and the choice of their number."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.chart_theme import Chart, column_tooltips, layered, with_axes
from pages.ui.charts.colours import CLUSTER_SHADES, MANY_COLOURS, MARKED
from pages.ui.charts.encodings import offset_axis
from pages.ui.charts.number_map import Ramp
from pages.ui.charts.standard import lines
from pages.ui.words.numbers import count
from pages.ui.words.say import say
from pages.ui.words.scope import say_here

_STRENGTHS = ("strong", "moderate", "weak")
_SHADES = 2  # that are told apart
_COLUMNS, _WIDTH, _HEIGHT = 3, 235, 96


def cluster_name(cluster: str) -> str:
    """Display name of a cluster: direction and strength, with a number if two share both."""
    direction, strength, number = _parts(cluster)
    name = say(
        "positions.cluster.name",
        direction=say(f"positions.cluster.{direction}"),
        strength=say(f"positions.cluster.{strength}"),
    )
    return f"{name} ({number})" if number > 1 else name


def cluster_colours(clusters: Sequence[str]) -> dict[str, str]:
    """Colours of all clusters, in their order: those of one direction together, strongest first.

    Clusters of a direction share its hues unless they are more than two.
    """
    families: dict[str, list[str]] = {family: [] for family in CLUSTER_SHADES}
    for cluster in sorted(clusters, key=_rank):
        direction, strength, _ = _parts(cluster)
        is_flat = (direction, strength) == ("both", "weak")
        families["flat" if is_flat else direction].append(cluster)
    if max(map(len, families.values())) > _SHADES:
        ordered = [cluster for members in families.values() for cluster in members]
        return dict(zip(ordered, cycle(MANY_COLOURS), strict=False))
    return {
        cluster: _shade(CLUSTER_SHADES[family], place, len(members))
        for family, members in families.items()
        for place, cluster in enumerate(members)
    }


def _parts(cluster: str) -> tuple[str, str, int]:
    direction, strength, *number = cluster.split("_")
    return direction, strength, int(number[0]) if number else 1


def _rank(cluster: str) -> tuple[int, int]:
    _, strength, number = _parts(cluster)
    return _STRENGTHS.index(strength), number


def _shade(ends: tuple[str, str], place: int, n: int) -> str:
    """Colour at one of n evenly spaced places between two ends."""
    share = place / max(n - 1, 1)
    return "#" + "".join(f"{round(part):02x}" for part in Ramp(ends, 0, 1).rgb(share))


def centre_charts(centres: pd.DataFrame, colours: dict[str, str]) -> Any:
    """Draw an area chart per cluster, all on one scale.

    Args:
        centres: rows name, offset, attention, n.
        colours: of the clusters by their names, in the order of the charts.
    """
    height = alt.Scale(domain=[0, 1.15 * float(centres["attention"].max())], nice=False)
    parts = []
    for place, (name, colour) in enumerate(colours.items()):
        first = place % _COLUMNS == 0
        axis = alt.Axis(format=".0%", tickCount=3, labels=first, ticks=first)
        y = alt.Y("attention:Q", title=None, scale=height, axis=axis)
        parts.append(_centre(centres[centres["name"] == name], name, colour, y))
    return alt.concat(*parts, columns=_COLUMNS, spacing=18)


def _centre(centre: pd.DataFrame, name: str, colour: str, y: alt.Y) -> Any:
    base = Chart(centre).encode(
        x=alt.X(
            "offset:Q",
            title=None,
            scale=alt.Scale(zero=False, nice=False),
            axis=offset_axis(values=[-10, -5, 0, 5, 10], grid=True),
        ),
        y=y,
        tooltip=column_tooltips(centre, offset="+d", attention=".1%"),
    )
    area = base.mark_area(color=colour, opacity=0.45, interpolate="linear")
    line = base.mark_line(color=colour, point={"color": colour, "size": 14})
    n = count(centre["n"].iloc[0])
    heading = alt.Title(name, subtitle=say_here("profiles_in", n=n), anchor="start", frame="group")
    return layered(area, line, title=heading, width=_WIDTH, height=_HEIGHT)


def explained_chart(explained: pd.DataFrame, k: int) -> Any:
    """Draw the explained share by the number of clusters, the chosen one marked."""
    curve = lines(explained, x="k", y="explained", format=".1%")
    curve = with_axes(curve, y=alt.Axis(format="%", tickCount=5))
    chosen = Chart(explained[explained["k"] == k]).encode(x=alt.X("k:Q"), y=alt.Y("explained:Q"))
    ring = chosen.mark_point(size=190, stroke=MARKED, strokeWidth=2.5, fillOpacity=0)
    label = chosen.mark_text(dy=-18, fontSize=12)
    label = label.encode(text=alt.Text("explained:Q", format=".0%"))
    return layered(curve, ring, label, height=230)
