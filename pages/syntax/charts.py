"""Charts of accuracies by relation."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, cell_selection, layered, tooltips
from pages.charts.colours import SYNTAX_COLOURS
from pages.charts.encodings import named
from pages.kit.head_choice import short_name
from pages.kit.section import Choices
from pages.words.columns import NAMED, shown_as, title
from pages.words.dependencies import relation_name
from pages.words.numbers import count, offset_label
from pages.words.scope import say_here

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
    is_half, of_offset = choices["chosen_on"] != "all", title("offset")
    of_head, there = say_here(f"series_{'half' if is_half else 'all'}"), say_here("series_chosen")
    shown = readable(frame).assign(series=of_head, of_offset=of_offset)
    shown["offset_named"] = shown["offset"].map(offset_label)
    rows = zip(shown["relation_named"], shown["n"], strict=True)
    shown["relation_named"] = [say_here("row", relation=of, n=count(n)) for of, n in rows]
    order, n_rows = shown["relation_named"].tolist(), len(shown)
    labels = alt.Axis(labelLimit=330, labelOverlap=False, ticks=False, grid=True)

    def rows_of(frame: pd.DataFrame, *numbers: str) -> Any:
        columns = ("relation", "series", "head_name", "direction", *numbers)
        return Chart(frame).encode(
            y=alt.Y(f"relation{NAMED}:N", title=None, sort=order, axis=labels),
            tooltip=tooltips(dict.fromkeys(shown_as(of, frame) for of in columns), frame, ".1%"),
        )

    base = rows_of(shown, *_OWN)
    legend = {there: _OTHER} if is_half else {}
    legend |= {of_head: _HEAD, of_offset: _OFFSET}
    colour, tick = (named(of, legend, symbolType="square") for of in ("series", "of_offset"))
    look: dict[str, Any] = {"size": 80, "opacity": 1}
    points = base.encode(color=colour)
    parts = []
    if is_half:
        beside = alt.YOffset("series:N", sort=[there, of_head])
        points = points.encode(yOffset=beside)
        chosen = rows_of(shown.assign(series=there), "accuracy_chosen").mark_circle(**look)
        parts = [chosen.encode(color=colour, yOffset=beside, x=_across("accuracy_chosen"))]
    ticks = base.mark_tick(thickness=3, height=14, opacity=1, orient="vertical")
    rules = points.mark_rule(strokeWidth=2).encode(x=_across("low"), x2=alt.X2("high"))
    points = points.mark_circle(cursor="pointer", **look).encode(x=_across("accuracy"))
    return layered(
        ticks.encode(x=_across("offset_accuracy"), color=tick),
        *parts,
        rules,
        points.add_params(cell_selection("row", "relation")),
        height=24 * n_rows * (1.4 if is_half else 1) + 140,
    )


def _across(column: str) -> alt.X:
    axis, scale = alt.Axis(format="%", tickCount=10), alt.Scale(domain=[0, 1])
    return alt.X(f"{column}:Q", title=say_here("accuracy_axis"), axis=axis, scale=scale)
