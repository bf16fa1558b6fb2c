"""Weight against norm, a panel per token type on shared axes."""

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.ui.charts.colours import TOKEN_TYPE_COLOURS
from pages.ui.charts.look import tooltips
from pages.ui.words.columns import title
from pages.ui.words.names import token_type_name
from pages.ui.words.quantities import ordered_types, quantity_axis

_WIDTH, _HEIGHT, _COLUMNS = 330, 230, 2
_OVERLAP = 1.02  # cells are drawn a little over their edges, so that no gaps show between them
_POWERS = "['1','0.1','0.01','10⁻³','10⁻⁴','10⁻⁵','10⁻⁶','10⁻⁷','10⁻⁸','10⁻⁹','10⁻¹⁰']"
_TICKS = [10.0**-power for power in range(11)]
_HALF_OCTAVES, _QUARTER_OCTAVES = 22, 21  # how many low bits of a float32 a bin leaves open


def density_panels(frame: pd.DataFrame) -> Any:
    """The share of a type's pairs in every cell, from `attention_norm_histogram.densities`."""
    frame = _with_edges(frame[frame["norm_bin"] > 0])
    low_share, high_share = frame["share"].min(), frame["share"].max()
    legend = alt.Legend(
        orient="bottom",
        direction="horizontal",
        gradientLength=260,
        gradientThickness=10,
        titleLimit=300,
        labelExpr=_power_of("datum.value"),
        values=[each for each in _TICKS if low_share <= each <= high_share],
    )
    scale = alt.Scale(type="log", scheme="viridis")
    titles = {"alpha": "α", "norm": title("value_norm"), "n": title("pairs"), "share": None}
    encodings = {
        "x": _axis("low_alpha", "pair_attention", frame["low_alpha"].min(), 1.0),
        "x2": alt.X2("end_alpha"),
        "y": _axis("low_norm", "pair_norm", frame["low_norm"].min(), frame["high_norm"].max()),
        "y2": alt.Y2("end_norm"),
        "color": alt.Color("share:Q", title=title("share"), scale=scale, legend=legend),
        "tooltip": tooltips(titles, frame, ".2e"),
    }
    return _panels(frame, lambda part: alt.Chart(part).mark_rect().encode(**encodings))


def sample_panels(frame: pd.DataFrame) -> Any:
    """A point per drawn pair, from `attention_norm_sample.scatter`."""
    frame = frame[(frame["attention"] > 0) & (frame["value_norm"] > 0)]
    low, high = frame["value_norm"].min(), frame["value_norm"].max()
    least = frame["attention"].clip(lower=2**-24).min()
    titles = dict.fromkeys(("token", "attention", "value_norm", "layer", "head", "seq"))
    encodings = {
        "x": _axis("attention", "pair_attention", least, 1.0),
        "y": _axis("value_norm", "pair_norm", low, high),
        "tooltip": tooltips(titles | {"attention": "α"}, frame, ".3~g"),
    }

    def drawn(part: pd.DataFrame) -> alt.Chart:
        colour = TOKEN_TYPE_COLOURS[part["token_type"].iloc[0]]
        points = alt.Chart(part).mark_circle(size=14, opacity=0.45, clip=True, color=colour)
        return points.encode(**encodings)

    return _panels(frame, drawn)


def _with_edges(frame: pd.DataFrame) -> pd.DataFrame:
    """Cells with their edges, written out as well, and their share of the type's pairs."""
    total = frame.groupby("token_type")["n"].transform("sum")
    frame = frame.assign(
        low_alpha=edges(frame["attention_bin"], _HALF_OCTAVES),
        high_alpha=edges(frame["attention_bin"] + 1, _HALF_OCTAVES),
        low_norm=edges(frame["norm_bin"], _QUARTER_OCTAVES),
        high_norm=edges(frame["norm_bin"] + 1, _QUARTER_OCTAVES),
        share=frame["n"] / total,
    )
    for name in ("alpha", "norm"):
        frame[f"end_{name}"] = frame[f"high_{name}"] * _OVERLAP
        ends = zip(frame[f"low_{name}"], frame[f"high_{name}"], strict=True)
        frame[name] = [f"{low:.3g} – {high:.3g}" for low, high in ends]
    return frame


def edges(bins: pd.Series, open_bits: int) -> np.ndarray:
    """The smallest float32 of each bin: floats that are not negative sort as their bits do."""
    return (bins.to_numpy(np.int32) << open_bits).view(np.float32).astype(np.float64)


def _power_of(value: str) -> str:
    """A Vega expression that writes a power of ten, at most 1, as a reader would."""
    return f"{_POWERS}[round(-log({value}) / LN10)]"


def _axis(field: str, quantity: str, low: float, high: float) -> alt.X | alt.Y:
    """A logarithmic axis of its ends: of weights across, of norms upwards."""
    axis = {"grid": False, "labelAngle": 0, "labelOverlap": True, "format": "~g", "tickCount": 5}
    if quantity == "pair_attention":
        axis |= {"values": _TICKS, "labelExpr": _power_of("datum.value")}
    channel = alt.X if quantity == "pair_attention" else alt.Y
    return channel(
        f"{field}:Q",
        title=quantity_axis(quantity),
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(**axis),
    )


def _panels(frame: pd.DataFrame, draw: Callable[[pd.DataFrame], Any]) -> Any:
    parts = [
        draw(frame[frame["token_type"] == each]).properties(
            title=token_type_name(each), width=_WIDTH, height=_HEIGHT
        )
        for each in ordered_types(frame["token_type"])
    ]
    return alt.concat(*parts, columns=_COLUMNS, spacing=24)
