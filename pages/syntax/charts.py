"""Charts of accuracies by relation."""

from typing import Any

import altair as alt
import pandas as pd

from pages.kit.section import Choices
from pages.ui.charts.chart_theme import Chart, cell_selection, layered, tooltips
from pages.ui.charts.colours import SYNTAX_COLOURS
from pages.ui.charts.encodings import named
from pages.ui.head.choice import short_name
from pages.ui.words.columns import NAMED, shown_as, title
from pages.ui.words.dependencies import relation_name
from pages.ui.words.numbers import count, offset_label
from pages.ui.words.scope import say_here

_HEAD, _OFFSET, _OTHER = SYNTAX_COLOURS
_OWN = ("n", "accuracy", "low", "high", "offset", "offset_accuracy")


def direction_name(direction: str) -> str:
    return say_here(f"direction_{direction}")


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Add display names of relations, heads and directions."""
    return frame.assign(
        relation_named=frame["relation"].map(relation_name),
        head_name=list(map(short_name, frame["layer"], frame["head"])),
        direction_named=frame["direction"].map(direction_name),
    )


def accuracy_rows(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw the best head of every relation with its interval, and a tick for the best offset.

    On halves, a further point is its accuracy where it was chosen.
    """
    is_half = choices["chosen_on"] != "all"
    colours = {say_here(f"series_{'half' if is_half else 'all'}"): _HEAD}
    parts = [frame.assign(series=[*colours] * len(frame))]
    if is_half:
        there = say_here("series_chosen")
        absent = dict.fromkeys(("low", "high", "offset_accuracy"), float("nan"))
        parts.append(frame.assign(series=there, accuracy=frame["accuracy_chosen"], **absent))
        colours = {there: _OTHER, **colours}
    shown = readable(pd.concat(parts, ignore_index=True))
    rows = zip(shown["relation_named"], shown["n"], strict=True)
    shown["relation_named"] = [say_here("row", relation=of, n=count(n)) for of, n in rows]
    shown["offset_named"], shown["of_offset"] = shown["offset"].map(offset_label), title("offset")
    order = shown["relation_named"].drop_duplicates().tolist()
    told = ("relation", "series", "head_name", "direction", *_OWN)
    labels = alt.Axis(labelLimit=330, labelOverlap=False, ticks=False, grid=True)
    base = Chart(shown).encode(
        y=alt.Y(f"relation{NAMED}:N", title=None, sort=order, axis=labels),
        tooltip=tooltips(dict.fromkeys(shown_as(of, shown) for of in told), shown, ".1%"),
    )
    several: dict[str, Any] = {"yOffset": alt.YOffset("series:N", sort=list(colours))}
    rows = base.encode(**several) if is_half else base
    legend = colours | {title("offset"): _OFFSET}
    series, of_offset = (
        named(column, legend, symbolType="square") for column in ("series", "of_offset")
    )
    axis = say_here("accuracy_axis")
    ticks = base.mark_tick(thickness=3, height=14, opacity=1, orient="vertical")
    points = rows.mark_circle(size=80, opacity=1, cursor="pointer")
    parts = [
        ticks.encode(x=_across("offset_accuracy", axis), color=of_offset),
        rows.mark_rule(strokeWidth=2).encode(
            x=_across("low", axis), x2=alt.X2("high"), color=series
        ),
        points.encode(x=_across("accuracy", axis), color=series).add_params(
            cell_selection("row", "relation")
        ),
    ]
    return layered(*parts, height=24 * len(order) * (1.4 if is_half else 1) + 140)


def _across(column: str, axis: str) -> alt.X:
    """Axis of shares from 0 to 1, the same in all charts."""
    per_cent = alt.Axis(format="%", tickCount=10)
    return alt.X(f"{column}:Q", title=axis, axis=per_cent, scale=alt.Scale(domain=[0, 1]))
