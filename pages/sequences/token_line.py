"""Tokens of a text in lines, or patches of an image, on backgrounds in the colour of a value."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.sequences.subject import Subject
from pages.ui.charts.chart_theme import (
    Chart,
    cell_selection,
    layered,
    open_ends,
    paper_and_ink,
    ramp_below,
    tooltips,
)
from pages.ui.charts.colours import LESS_TO_MORE, MARKED
from pages.ui.charts.image_ground import ImageGround
from pages.ui.charts.pieces import readable
from pages.ui.charts.text_layout import FONT, places
from pages.ui.charts.token_map import rounded

PLACE = "place"
"""Name of the selection of a clicked token."""
_LETTERS = 50  # to a line, beside a map
_LINE, _SIZE, _OF_LEGEND = 24, 12, 80  # pixels
_SIDE = 300  # of an image
_GROUND = "#1fa187"
_FULL, _NONE = "8c", "00"  # how opaque the grounds of words are


def token_line(
    subject: Subject, frame: pd.DataFrame, value: str, *, legend: str, marked: int | None
) -> Any:
    """Draw the tokens; a click returns `event["selection"][PLACE][0]["pos"]`.

    Args:
        frame: a row per token in order: pos, token and the value.
        legend: title of the value, with its unit.
        marked: the position of the token with a frame around it.
    """
    shown = frame.assign(chosen=frame["pos"] == marked)
    if subject.ground:
        return _patches(subject.ground, shown, value, legend)
    return _text(subject, shown, value, legend)


def _text(subject: Subject, frame: pd.DataFrame, value: str, legend: str) -> Any:
    pairs = readable(list(subject.tokens))
    spaces = [bool(space) for space, _ in pairs[1:]] + [True]
    forms = [form.strip() or "␣" for _, form in pairs]
    at = pd.DataFrame(places(pd.DataFrame({"form": forms, "space_after": spaces}), _LETTERS))
    shown = frame.assign(
        form=forms,
        x=at["x"],
        x2=at["x"] + at["width"],
        y=at["line"] - 0.42,
        y2=at["line"] + 0.42,
        middle=at["line"].astype("float64"),
    )
    n_lines = int(at["line"].max()) + 1
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, _LETTERS], nice=False))
    height = alt.Scale(domain=[-0.5, n_lines - 0.5], reverse=True, nice=False)
    base = Chart(shown).encode(x=x, y=alt.Y("y:Q", axis=None, scale=height))
    words = base.mark_text(
        align="left",
        baseline="middle",
        font=FONT,
        fontSize=alt.ExprRef(f"min({_SIZE}, width / {_LETTERS} / 0.605)"),
        color=paper_and_ink()[1],
        tooltip=False,
    ).encode(y=alt.Y("middle:Q", axis=None, scale=height), text=alt.Text("form:N"))
    chart = _grounded(base, shown, value, legend, [words])
    return chart.properties(height=_LINE * n_lines + _OF_LEGEND)


def _patches(ground: ImageGround, frame: pd.DataFrame, value: str, legend: str) -> Any:
    """Draw special tokens in a row above the patches, with the contours of the picture on top."""
    n, cell = len(ground.special), _SIDE / ground.columns
    top = _LINE + 6 if n else 0
    tall = ground.rows * cell + top
    patches = (ground.places() - 1) * cell
    special = pd.DataFrame({"column": [place * _SIDE / n for place in range(n)], "row": 0.0})
    corners = pd.concat([special, patches.assign(row=patches["row"] + top)], ignore_index=True)
    is_patch = corners.index >= n
    shown = frame.assign(
        x=corners["column"],
        y=corners["row"],
        x2=corners["column"] + np.where(is_patch, cell, _SIDE / max(n, 1)),
        y2=corners["row"] + np.where(is_patch, cell, _LINE),
    )
    across = alt.Scale(domain=[0, _SIDE], nice=False)
    down = alt.Scale(domain=[0, tall], reverse=True, nice=False)
    base = Chart(shown).encode(
        x=alt.X("x:Q", axis=None, scale=across), y=alt.Y("y:Q", axis=None, scale=down)
    )
    words = base.transform_filter(f"datum.pos < {n}").mark_text(
        align="left", baseline="top", dx=4, dy=6, fontSize=_SIZE, tooltip=False
    )
    over = [*_contours(ground, top, tall - top), words.encode(text=alt.Text("token:N"))]
    chart = _grounded(base, shown, value, legend, over)
    # the page would shrink the patches, and not the picture, to make room for the legend
    return chart.properties(width=_SIDE, height=tall, autosize=alt.AutoSizeParams(type="pad"))


def _contours(ground: ImageGround, top: float, tall: float) -> list[Any]:
    """Draw the contours of the picture, if it is stored."""
    if not (address := ground.address(outlined=True)):
        return []
    size: dict[str, Any] = {"width": _SIDE, "height": tall, "aspect": False}
    place: dict[str, Any] = {"align": "left", "baseline": "top", "tooltip": False, "aria": False}
    corner = Chart(pd.DataFrame({"x": [0], "y": [top]}))
    at = {"x": alt.X("x:Q", axis=None), "y": alt.Y("y:Q", axis=None)}
    return [corner.mark_image(url=address, **size, **place).encode(**at)]


def _grounded(base: Any, shown: pd.DataFrame, value: str, legend: str, over: list[Any]) -> Any:
    """Draw clickable backgrounds below the other marks, and the frame of the selected token."""
    others = shown.loc[~shown["chosen"], value]
    reach = rounded(float(others.abs().max())) if others.any() else 1.0
    if (shown[value] < 0).any():
        less, _, none, _, more = LESS_TO_MORE
        colours = [f"{less}{_FULL}", f"{none}{_NONE}", f"{more}{_FULL}"]
        domain = [-reach, 0.0, reach]
    else:
        colours, domain = [f"{_GROUND}{_NONE}", f"{_GROUND}{_FULL}"], [0.0, reach]
    scale = alt.Scale(domain=domain, range=colours, clamp=True)
    ramp = ramp_below(200, titleLimit=300, **open_ends(shown[value], domain, ".2~g"))
    heard = shown["token"] + ": " + shown[value].map("{:.2f}; ".format) + legend
    base.data = shown.assign(heard=heard)
    cells = (
        base.mark_rect(cursor="pointer", opacity=1, cornerRadius=2)
        .encode(
            x2=alt.X2("x2:Q"),
            y2=alt.Y2("y2:Q"),
            color=alt.Color(f"{value}:Q", title=legend, scale=scale, legend=ramp),
            tooltip=tooltips({"token": None, "pos": None, value: legend}, shown, ".2f"),
            description=alt.Description("heard:N"),
        )
        .add_params(cell_selection(PLACE, "pos"))
    )
    chosen = base.transform_filter("datum.chosen").mark_rect(
        filled=False, stroke=MARKED, strokeWidth=2, tooltip=False
    )
    return layered(cells, *over, chosen.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q")))
