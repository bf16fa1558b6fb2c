"""Targets down, sources across: shares before and after a step, and their difference."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import LESS_TO_MORE
from pages.ui.words.say import say

MAPS = ("before", "after", "change")
_SIDES = {1: 620, 3: 208}  # of a map that is alone, of one of three on a page 1280 wide
_AROUND = 160  # axis, title and legend of a map that is fitted to the page
_QUANTILE = 0.995
_BEND = 0.12  # where the middle of each half of the scale of changes lies
_OVERLAP = 0.6  # pixels that cells are drawn over their edges, so that no gaps show between them


@dataclass(frozen=True)
class Labels:
    """The title of each map, and whether its tokens have room on the axes."""

    titles: Mapping[str, str]
    readable: bool


def map_chart(frame: pd.DataFrame, drawn: tuple[str, ...], labels: Labels) -> Any:
    """Some of `MAPS` side by side, coloured so that most of what is off the diagonal differs.

    Args:
        frame: a row per cell: target_pos, source_pos, target, source, a column per map in per cent,
            chosen.
    """
    scales, side = _scales(frame), _SIDES[len(drawn)]
    parts = [
        _map(frame, name, scales[name], labels, side=side, first=name == drawn[0]) for name in drawn
    ]
    if len(parts) == 1:
        return parts[0].properties(width=side + _AROUND, height=side + _AROUND)
    return alt.hconcat(*parts, spacing=14).resolve_scale(color="independent")


def _scales(frame: pd.DataFrame) -> dict[str, alt.Scale]:
    """Scales that end where all but a few of the cells do, leaving out what a token keeps."""
    others = frame[frame["target_pos"] != frame["source_pos"]]
    top = float(others[["before", "after"]].max(axis=1).quantile(_QUANTILE)) or 1.0
    reach = float(others["change"].abs().quantile(_QUANTILE)) or 1.0
    shares = alt.Scale(type="sqrt", scheme="viridis", domain=[0, top], clamp=True)
    stops = [-reach, -_BEND * reach, 0, _BEND * reach, reach]
    change = alt.Scale(domain=stops, range=list(LESS_TO_MORE), clamp=True, interpolate="rgb")
    return {"before": shares, "after": shares, "change": change}


def _map(
    frame: pd.DataFrame, name: str, scale: alt.Scale, labels: Labels, *, side: int, first: bool
) -> Any:
    told = {"ticks": False, "labelLimit": 76, "labelFontSize": 9 if side < 400 else 10}
    told |= {"labelOverlap": False, "labelFlush": False}
    base = alt.Chart(frame).encode(
        x=alt.X(
            "source:N",
            title=say("token_pairs.maps.source"),
            sort=alt.SortField("source_pos"),
            axis=alt.Axis(labels=labels.readable, labelAngle=-90, **told),
        ),
        y=alt.Y(
            "target:N",
            title=say("token_pairs.maps.target") if first else None,
            sort=alt.SortField("target_pos"),
            axis=alt.Axis(labels=labels.readable and first, **told),
        ),
    )
    band = {"band": 1 + _OVERLAP * frame["target_pos"].nunique() / side}
    cells = base.mark_rect(width=band, height=band).encode(
        color=alt.Color(f"{name}:Q", title=_unit(name), scale=scale, legend=_legend(side)),
        tooltip=[
            alt.Tooltip("target:N", title=say("token_pairs.maps.target")),
            alt.Tooltip("source:N", title=say("token_pairs.maps.source")),
            *(
                alt.Tooltip(f"{each}:Q", title=say(f"token_pairs.maps.told_{each}"), format=".2f")
                for each in MAPS
            ),
        ],
    )
    ring = base.transform_filter("datum.chosen").mark_rect(
        filled=False, stroke="#ff5a36", strokeWidth=2.5
    )
    return alt.layer(cells, ring).properties(title=labels.titles[name], width=side, height=side)


def _unit(name: str) -> str:
    return say(f"token_pairs.maps.unit_{'change' if name == 'change' else 'share'}")


def _legend(side: int) -> alt.Legend:
    return alt.Legend(
        orient="bottom",
        direction="horizontal",
        gradientLength=min(side, 240) - 20,
        gradientThickness=10,
        tickCount=4,
        format=".2~g",
    )
