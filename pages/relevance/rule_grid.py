"""Maps of one image by rule and head in a small grid (Sawaki and Murata 2025)."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.relevance_rules import RULES
from pages.relevance.choices import head_names
from pages.relevance.maps.image_map import WIDTH, relevance_colour
from pages.relevance.maps.source import Maps, MapSource
from pages.relevance.rules import rule_name, rule_short
from pages.ui.charts.chart_theme import Chart, cell_selection, layered, paper_and_ink, tooltips
from pages.ui.charts.colours import MARKED
from pages.ui.charts.image_ground import ImageGround
from pages.ui.words.columns import title
from pages.ui.words.scope import say_here

CLICKED = "map"
"""Name of the selection of a clicked map, with fields rule and head."""
_LABEL, _TOP, _MOST = 56, 22, 130  # pixels: of rules' names; of heads' names; of a map
_GAP = 0.06  # of a map, between two


def maps_by_rule(source: MapSource, layer: int) -> dict[str, Maps]:
    """Maps of all heads from one start layer, by each of the four rules that has them there."""
    rules = [rule for rule in RULES if rule in source.rules]
    there = [rule for rule in rules if str(layer) in source.layers(rule, "mean")]
    return {rule: source.heads(rule, layer) for rule in there}


def grid_frame(ground: ImageGround, maps: Mapping[str, Maps]) -> pd.DataFrame:
    """A row per patch, rule and head: rule, head, row, column, relevance, of_largest."""
    parts = [
        pd.DataFrame(
            {"rule": rule, "head": head, **ground.places(), "relevance": ground.patches(relevance)}
        )
        for rule, of_heads in maps.items()
        for head, relevance in of_heads.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    largest = frame.groupby(["rule", "head"])["relevance"].transform("max")
    return frame.assign(of_largest=(frame["relevance"] / largest.where(largest > 0)).fillna(0.0))


def rule_grid(
    ground: ImageGround, frame: pd.DataFrame, *, own_scale: bool, marked: tuple[str, str]
) -> Any:
    """Draw a row of maps per rule and a column per head; a click chooses a map.

    Args:
        frame: of `grid_frame`.
        own_scale: whether every map reaches the brightest colour, else only the highest of all.
        marked: rule and head of the map with a frame around it.
    """
    rules, heads = list(dict.fromkeys(frame["rule"])), list(dict.fromkeys(frame["head"]))
    side = min((WIDTH - _LABEL) / len(heads), _MOST)
    tall = side * ground.rows / ground.columns
    room = 1 - _GAP
    left = _LABEL + side * frame["head"].map(heads.index)
    top = _TOP + tall * frame["rule"].map(rules.index)
    wide, high = side * room / ground.columns, tall * room / ground.rows
    shown = frame.assign(
        x=left + (frame["column"] - 1) * wide,
        y=top + (frame["row"] - 1) * high,
        x2=left + frame["column"] * wide,
        y2=top + frame["row"] * high,
        rule_name=frame["rule"].map(rule_name),
        head_name=frame["head"].map(head_names(heads)),
    )
    size = {"width": _LABEL + side * len(heads), "height": _TOP + tall * len(rules)}
    x, y = (
        alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, size["width"]], nice=False)),
        alt.Y(
            "y:Q", axis=None, scale=alt.Scale(domain=[0, size["height"]], reverse=True, nice=False)
        ),
    )
    field, scale = ("of_largest", "own") if own_scale else ("relevance", "shared")
    end = 1.0 if own_scale else float(frame["relevance"].max()) or 1.0
    names = {"rule_name": say_here("rule"), "head_name": title("head")}
    titles = names | dict.fromkeys(("row", "column", "relevance"))
    cells = (
        Chart(shown)
        .mark_rect(cursor="pointer", opacity=1, strokeWidth=0)
        .encode(
            x=x,
            y=y,
            x2=alt.X2("x2:Q"),
            y2=alt.Y2("y2:Q"),
            color=relevance_colour(field, say_here(f"legend_{scale}"), end),
            tooltip=tooltips(titles, shown, ".2%"),
        )
        .add_params(cell_selection(CLICKED, "rule", "head"))
    )
    corners = shown.groupby(["rule", "head"], sort=False)[["x", "y", "x2", "y2"]].agg(
        {"x": "min", "y": "min", "x2": "max", "y2": "max"}
    )
    ring = Chart(corners.reset_index()[corners.index == marked]).mark_rect(
        filled=False, stroke=MARKED, strokeWidth=2.5, tooltip=False
    )
    words = pd.DataFrame(
        [
            *(
                {"x": _LABEL + side * (at + room / 2), "y": _TOP / 2, "text": _short(head)}
                for at, head in enumerate(heads)
            ),
            *(
                {"x": _LABEL / 2, "y": _TOP + tall * (at + room / 2), "text": rule_short(rule)}
                for at, rule in enumerate(rules)
            ),
        ]
    )
    paper, ink = paper_and_ink()
    texts = Chart(words).mark_text(
        color=ink, fontSize=12, fontWeight=600, baseline="middle", tooltip=False
    )
    return layered(
        cells,
        ring.encode(x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q")),
        texts.encode(x=x, y=y, text=alt.Text("text:N")),
        **{name: int(np.ceil(pixels)) for name, pixels in size.items()},
        autosize=alt.AutoSizeParams(type="pad"),
        view=alt.ViewBackground(fill=paper, stroke=None),
    )


def _short(head: str) -> str:
    """Number of a head, or the word for the mean."""
    return head if head.isdigit() else say_here("mean_short")
