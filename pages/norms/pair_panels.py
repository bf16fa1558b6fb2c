"""Panels of pairs of weight and norm, one for each token type (figure 3)."""

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.base.correlations import OF_PAIRS
from pages.charts.chart_theme import Chart, ramp_below, tooltips
from pages.charts.colours import TOKEN_TYPE_COLOURS
from pages.kit.section import Choices, rows_of
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

_CHOSEN = "($layer is null or layer = $layer) and ($head is null or head = $head)"
DENSITIES = f"""
    select
        token_type,
        least(greatest(attention_bin, 103 * 4), 127 * 4 - 1) // 2 as attention_bin,
        norm_bin // 16 as norm_bin,
        sum(n)::bigint as n
    from attention_norm_histogram
    where {_CHOSEN}
    group by all
    order by all
"""
"""Number of pairs per cell by token type, in bins of half and of quarter octaves.

Weights under 2⁻²⁴ are in the lowest bin shown, weights of exactly 1 with those just below. A norm
of exactly 0, which a log axis cannot show, is in norm_bin 0."""
_OCTAVES = """
    with cells as (
        select layer, head, token_type, n,
            greatest(attention_bin // 4 - 127 + log2(1 + (attention_bin % 4) / 4), -24) as alpha,
            norm_bin // 64 - 127 + log2(1 + (norm_bin % 64) / 64) as norm
        from attention_norm_histogram
        where norm_bin > 0 and ($layer is null or layer = $layer)
    ),
    centres as (
        select layer, head, token_type, sum(n * alpha) / sum(n) as alpha_centre,
            sum(n * norm) / sum(n) as norm_centre
        from cells
        group by all
    )
"""
"""Cells with their lower edges as powers of two, and the mean of these over the pairs of a head."""
_CELLS_WITHIN = f"""
    {_OCTAVES}
    select token_type, floor(2 * (alpha - alpha_centre))::int as attention_bin,
        floor(8 * (norm - norm_centre))::int as norm_bin, sum(n)::bigint as n
    from cells join centres using (layer, head, token_type)
    group by all
    order by all
"""
"""Number of pairs per cell in half octaves and eighths of one, from geometric means over the pairs
of a type in each head."""
_CENTRES = f"""
    {_OCTAVES}
    select layer, head, token_type, 2 ** alpha_centre as attention_centre,
        2 ** norm_centre as norm_centre
    from centres
    order by layer, head, token_type
"""
SAMPLE = f"""
    select s.token_type, s.attention::double as attention, s.value_norm::double as value_norm,
        s.layer, s.head, s.seq, t.token
    from attention_norm_sample s
    join token t on t.seq = s.seq and t.pos = s.key_pos
    where {_CHOSEN}
    qualify row_number() over (partition by s.token_type order by s.priority) <= {_SAMPLED}
    order by s.token_type, s.priority
"""


def edges(bins: pd.Series, open_bits: int) -> np.ndarray:
    """Lower edge of each bin, a float32: non-negative floats sort like their bits."""
    return (bins.to_numpy(np.int32) << open_bits).view(np.float32).astype(np.float64)


def pairs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """All pairs of some heads in cells, or a sample of them; within heads over their means."""
    within = choices.get("level") == _WITHIN
    if choices["marks"] == "density":
        asked = _CELLS_WITHIN if within else DENSITIES
        return with_edges(rows_of(asked, inquiry, choices), within=within)
    frame = rows_of(SAMPLE, inquiry, choices)
    if not within:
        return frame
    centres = rows_of(_CENTRES, inquiry, choices)
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
    """Draw a point per sampled pair, from `pairs`.

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
        frame: token_type, attention_bin, norm_bin, n.
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
