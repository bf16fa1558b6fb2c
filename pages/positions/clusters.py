"""Clusters of attention profiles: names, colours, shares, and centres."""

from itertools import cycle
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import with_axes
from pages.charts.colours import MANY_COLOURS
from pages.charts.encodings import offset_axis
from pages.charts.plots import Lines
from pages.kit.section import Choices, rows_of
from pages.services.inquiry import Inquiry
from pages.words.say import say

_STRENGTHS = ("strong", "moderate", "weak")
_PAPER = 6  # clusters


def numbers_of_clusters(inquiry: Inquiry, _: Choices) -> list[int]:
    """Numbers of clusters that the file has; small corpora have fewer."""
    query = "select distinct k from relative_position_centre order by k"
    return rows_of(query, inquiry, {})["k"].tolist()


def default_number(inquiry: Inquiry, choices: Choices) -> int | None:
    """Number of clusters of the paper, or else the largest one, if there are any."""
    options = numbers_of_clusters(inquiry, choices)
    return _PAPER if _PAPER in options else max(options, default=None)


def shares(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Share of the texts in each cluster, by head, with display names of clusters."""
    query = """
        select layer, head, cluster, share from relative_position_clustering
        where k = $k order by layer, head, share desc, cluster"""
    frame = rows_of(query, inquiry, choices)
    return frame.assign(name=frame["cluster"].map(cluster_name))


def centres(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Centre of each cluster, with display names of clusters."""
    query = """
        select cluster, "offset", attention, n from relative_position_centre where k = $k
        order by max(attention) over (partition by cluster) desc, cluster, "offset" """
    frame = rows_of(query, inquiry, choices)
    return frame.assign(name=frame["cluster"].map(cluster_name))


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding: how firmly heads keep to a cluster, and the cluster of most heads."""
    rows = rows_of(
        """
        with dominant as (
            select layer, head, max(share) as share, arg_max(cluster, share) as cluster
            from relative_position_clustering where k = $k group by layer, head),
        largest as (select mode(cluster) as cluster from dominant),
        sizes as (select distinct cluster, n from relative_position_centre where k = $k)
        select 1 as sentence, 'kept' as name, avg(share) as value from dominant
        union all by name
        select 1 as sentence, 'largest' as name, max(n) / sum(n) as value from sizes
        union all by name
        select 2 as sentence, 'sure' as name, count(*) filter (share >= 0.9) as n,
            count(*) as of, any_value(largest.cluster) as cluster,
            count(*) filter (dominant.cluster = largest.cluster) as many
        from dominant, largest having count(*) > 0""",
        inquiry,
        choices,
    )
    return rows.assign(cluster=rows["cluster"].map(cluster_name, na_action="ignore"))


def cluster_name(cluster: str) -> str:
    """Display name of a cluster: direction and strength, with a number if two share both."""
    direction, strength, number = _parts(cluster)
    name = say(
        "positions.cluster.name",
        direction=say(f"positions.cluster.{direction}"),
        strength=say(f"positions.cluster.{strength}"),
    )
    return f"{name} ({number})" if number > 1 else name


def cluster_colours(frame: pd.DataFrame) -> dict[str, str]:
    """Colours of clusters by display names: those of one direction together, strongest first.

    Args:
        frame: rows cluster, name.
    """
    names = dict(zip(frame["cluster"], frame["name"], strict=True))
    ordered = [names[cluster] for cluster in sorted(names, key=_rank)]
    return dict(zip(ordered, cycle(MANY_COLOURS), strict=False))


def _parts(cluster: str) -> tuple[str, str, int]:
    direction, strength, *number = cluster.split("_")
    return direction, strength, int(number[0]) if number else 1


def _rank(cluster: str) -> tuple[str, int, int]:
    direction, strength, number = _parts(cluster)
    return direction, _STRENGTHS.index(strength), number


def centre_lines(centres: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw a line over offsets per cluster.

    Args:
        centres: rows cluster, name, offset, attention, n.
    """
    look: dict[str, Any] = {"colour": "name", "colours": cluster_colours(centres)}
    kind = Lines(x="offset", value="attention", format=".1%", **look)
    axes = {"x": offset_axis(tickCount=11), "y": alt.Axis(format="~%", tickCount=5)}
    return with_axes(kind.draw(centres, name, choices), **axes)
