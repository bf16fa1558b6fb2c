"""Panels of pairs of weight and norm, one for each token type (figure 3)."""

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.norms import attention_norm_distribution
from analysis.statistics.parts import OF_PAIRS
from pages.charts.chart_theme import Chart, ramp_below, tooltips
from pages.charts.colours import TOKEN_TYPE_COLOURS
from pages.kit.section import Choices
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.names import token_type_name
from pages.words.quantities import ordered_types, quantity_axis

_WITHIN, *_ = OF_PAIRS
_SAMPLED = 1_500  # pairs of each type
_WIDTH, _HEIGHT, _COLUMNS = 330, 230, 2
_OVER = 0.6  # pixels that a cell reaches over its edges, so that no gaps show between them
_POWERS = "['1','0.1','0.01','10⁻³','10⁻⁴','10⁻⁵','10⁻⁶','10⁻⁷','10⁻⁸','10⁻⁹','10⁻¹⁰']"
_AS_POWER = f"{_POWERS}[round(-log(datum.value) / LN10)]"
"""Vega expression for a label of a power of ten, at most 1."""
_TICKS = [10.0**-power for power in range(11)]
_ALPHA, _NORM = "attention", "norm"
_OPEN_BITS = {_ALPHA: 22, _NORM: 21}
"""Number of low bits of a float32 inside a cell, for half octaves and quarter octaves."""
_TO_AN_OCTAVE = {_ALPHA: 2, _NORM: 8}
"""Number of cells to an octave, from the mean of a head."""


def edges(bins: pd.Series, open_bits: int) -> np.ndarray:
    """Lower edge of each bin, a float32: non-negative floats sort like their bits."""
    return (bins.to_numpy(np.int32) << open_bits).view(np.float32).astype(np.float64)


def pairs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """All pairs of some heads in cells, or a sample of them; within heads over their means."""
    scope = {name: choices.get(name) for name in ("layer", "head")}
    within, layer = choices.get("level") == _WITHIN, choices.get("layer")
    if choices["marks"] == "density":
        cells = (
            inquiry.ask(attention_norm_distribution.densities_within, layer=layer)
            if within
            else inquiry.ask(attention_norm_distribution.densities, **scope)
        )
        return with_edges(cells, within=within)
    frame = inquiry.ask(attention_norm_distribution.scatter, limit=_SAMPLED, **scope)
    if not within:
        return frame
    centres = inquiry.ask(attention_norm_distribution.centres, layer=layer)
    frame = frame.merge(centres, on=["layer", "head", "token_type"])
    return frame.assign(
        attention=frame["attention"] / frame["attention_centre"],
        value_norm=frame["value_norm"] / frame["norm_centre"],
    ).drop(columns=["attention_centre", "norm_centre"])


def pair_panels(frame: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw rows of `pairs`."""
    draw = _densities if choices["marks"] == "density" else _samples
    return draw(frame, within=choices.get("level") == _WITHIN)


def _densities(frame: pd.DataFrame, *, within: bool) -> Any:
    """Draw the share of a type's pairs in every cell.

    Args:
        within: whether cells are multiples of the means of a head.
    """
    ticks = [tick for tick in _TICKS if frame["share"].min() <= tick <= frame["share"].max()]
    legend = ramp_below(260, titleLimit=300, labelExpr=_AS_POWER, values=ticks)
    scale = alt.Scale(type="log", scheme="viridis")
    titles = {_ALPHA: "α", _NORM: title("value_norm"), "n": title("pairs"), "share": None}
    low, high = ({name: frame[f"{end}_{name}"] for name in _OPEN_BITS} for end in ("low", "high"))
    top = high[_ALPHA].max() if within else 1.0
    encodings = {
        "x": _axis(f"low_{_ALPHA}", "attention", low[_ALPHA].min(), top, within=within),
        "x2": alt.X2(f"high_{_ALPHA}"),
        "y": _axis(f"low_{_NORM}", "norm", low[_NORM].min(), high[_NORM].max(), within=within),
        "y2": alt.Y2(f"high_{_NORM}"),
        "color": alt.Color("share:Q", title=title("share"), scale=scale, legend=legend),
        "tooltip": tooltips(titles, frame, ".2e"),
    }
    over: dict[str, Any] = {"x2Offset": _OVER, "y2Offset": -_OVER}
    return _panels(frame, lambda part: Chart(part).mark_rect(**over).encode(**encodings))


def _samples(frame: pd.DataFrame, *, within: bool) -> Any:
    """Draw a point per sampled pair, from `attention_norm_sample.scatter`.

    Args:
        within: whether `attention` and `value_norm` are multiples of the means of a head.
    """
    frame = frame[(frame["attention"] > 0) & (frame["value_norm"] > 0)]
    norm, alpha = frame["value_norm"], frame["attention"]
    least = alpha.min() if within else alpha.clip(lower=2**-24).min()
    titles = dict.fromkeys(("token", "attention", "value_norm", "layer", "head", "seq"))
    top = alpha.max() if within else 1.0
    encodings = {
        "x": _axis("attention", "attention", least, top, within=within),
        "y": _axis("value_norm", "norm", norm.min(), norm.max(), within=within),
        "tooltip": tooltips(titles | {"attention": "α"}, frame, ".3~g"),
    }
    return _panels(frame, lambda part: _points(part, 14, 0.45).encode(**encodings))


def rank_panels(frame: pd.DataFrame, _: str, __: Choices) -> Any:
    """Draw a point per head or layer, from rows token_type, attention_rank, norm_rank and layer."""
    frame = frame.dropna(axis=1, how="all")  # layers have no head
    encodings: dict[str, Any] = {
        channel: of(
            f"{name}:Q",
            title=title(name),
            scale=alt.Scale(zero=False, padding=8),
            axis=alt.Axis(grid=True, tickCount=5, format="~g"),
        )
        for channel, of, name in (("x", alt.X, "attention_rank"), ("y", alt.Y, "norm_rank"))
    }
    shown = [name for name in ("layer", "head", "attention_rank", "norm_rank") if name in frame]
    encodings["tooltip"] = tooltips(dict.fromkeys(shown), frame, "+.3f")
    return _panels(frame, lambda part: _points(part, 60, 0.75).encode(**encodings))


def _points(part: pd.DataFrame, size: int, opacity: float) -> alt.Chart:
    """Draw points in the colour of their common token type."""
    colour = TOKEN_TYPE_COLOURS[part["token_type"].iloc[0]]
    return Chart(part).mark_circle(size=size, opacity=opacity, clip=True, color=colour)


def with_edges(frame: pd.DataFrame, *, within: bool) -> pd.DataFrame:
    """Cells with their edges, written out as well, and their share of the type's pairs.

    Args:
        frame: of `attention_norm_histogram.densities`, or of `densities_within`.
        within: whether cells are multiples of the means of a head.
    """
    if not within:
        frame = frame[frame["norm_bin"] > 0]
    total = frame.groupby("token_type")["n"].transform("sum")
    frame = frame.assign(share=frame["n"] / total)
    for name, open_bits in _OPEN_BITS.items():
        bins = frame[f"{name}_bin"]
        low, high = (
            2.0 ** ((bins + step) / _TO_AN_OCTAVE[name])
            if within
            else edges(bins + step, open_bits)
            for step in (0, 1)
        )
        frame[f"low_{name}"], frame[f"high_{name}"] = low, high
        frame[name] = [f"{start:.3g} – {end:.3g}" for start, end in zip(low, high, strict=True)]
    return frame


def _axis(field: str, quantity: str, low: float, high: float, *, within: bool) -> alt.X | alt.Y:
    """A logarithmic axis of its ends: of weights across, of norms upwards."""
    axis = {"grid": False, "labelAngle": 0, "labelOverlap": True, "format": "~g", "tickCount": 5}
    if quantity == "attention" and not within:
        axis |= {"values": _TICKS, "labelExpr": _AS_POWER}
    channel = alt.X if quantity == "attention" else alt.Y
    return channel(
        f"{field}:Q",
        title=quantity_axis(f"pair_{quantity}{'_within' if within else ''}"),
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(**axis),
    )


def _panels(frame: pd.DataFrame, draw: Callable[[pd.DataFrame], Any]) -> Any:
    parts = [
        draw(frame[frame["token_type"] == token_type]).properties(
            title=token_type_name(token_type), width=_WIDTH, height=_HEIGHT
        )
        for token_type in ordered_types(frame["token_type"])
    ]
    return alt.concat(*parts, columns=_COLUMNS, spacing=24)
