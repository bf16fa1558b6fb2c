"""How attention weight and norm go together, token type by token type (figure 3, table 3)."""

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.published.numbers import numbers
from analysis.tables.norms import attention_norm_correlation as correlation
from analysis.tables.norms import attention_norm_histogram, attention_norm_sample
from pages.attention_norms.opened_head import most_drawn, pick_norms_head
from pages.ui.charts.colours import TOKEN_TYPE_COLOURS
from pages.ui.charts.head_map import head_map
from pages.ui.charts.look import ramp_below, tooltips
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import choose
from pages.ui.head.choice import follow_head_click
from pages.ui.page import section
from pages.ui.published import Row, statistic_of
from pages.ui.store.chosen import ask, layers
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import count, signed
from pages.ui.words.quantities import in_type_order, ordered_types, quantity_axis

_SAMPLED = 1_500
_WEAK = -0.1  # a ρ above is no tendency worth mentioning
_WIDTH, _HEIGHT, _COLUMNS = 330, 230, 2
_OVERLAP = 1.02  # cells are drawn a little over their edges, so that no gaps show between them
_POWERS = "['1','0.1','0.01','10⁻³','10⁻⁴','10⁻⁵','10⁻⁶','10⁻⁷','10⁻⁸','10⁻⁹','10⁻¹⁰']"
_AS_POWER = f"{_POWERS}[round(-log(datum.value) / LN10)]"
"""A Vega expression that writes a power of ten, at most 1, as a reader would."""
_TICKS = [10.0**-power for power in range(11)]
_BINS = (("alpha", "attention_bin", 22), ("norm", "norm_bin", 21))
"""What they are of, their column, and how many low bits of a float32 they leave open: those of half
octaves, and of quarter octaves."""
Scope = dict[str, int | None]


@section(
    "relation",
    correlation.TABLE,
    attention_norm_histogram.TABLE,
    also=(attention_norm_sample.TABLE,),
)
def relation(view: View) -> None:
    if follow_head_click(view.key("heads")):
        choose(view.key("scope"), "head")
    scope = _pick_scope(view)
    rho = ask(correlation.by_type, **scope)
    view.finding(_finding(view, rho))
    marks = view.pick("marks", ["density", "sample"])
    if marks == "density":
        frame = ask(attention_norm_histogram.densities, **scope)
        chart = _density_panels(frame)
    else:
        frame = ask(attention_norm_sample.scatter, limit=_SAMPLED, **scope)
        chart = _sample_panels(frame)
    view.figure("pairs", frame, chart, state=marks, caption=view.say(f"caption_{marks}"))
    pairs = in_type_order(rho).rename(columns={"n": "pairs"})
    view.table("table", pairs, ["token_type", "pairs", "spearman"])
    if scope["layer"] is None:
        view.beside("rho", *_published(rho))
    frame = ask(correlation.by_layer).dropna(subset="spearman")
    if len(frame):
        view.figure("layers", frame, lines(frame, y="spearman", colour="token_type", level=0.0))
    _map(view, scope)


def _pick_scope(view: View) -> Scope:
    """All heads, the heads of one layer, or one head."""
    layer = head = None
    chosen = view.pick("scope", ["all", "layer", "head"])
    if chosen == "layer":
        layer = view.pick("layer", layers(), default=most_drawn()[0], kind="select")
    elif chosen == "head":
        layer, head = pick_norms_head(view)
    return {"layer": layer, "head": head}


def _published(rho: pd.DataFrame) -> list[Row]:
    """Table 3: pairs of each type and their rank correlation, all heads together."""
    ours = rho.set_index("token_type")
    titles = {"n": title("pairs"), "spearman": title("spearman")}
    return [
        Row(
            statistic_of(token_type_name(number.token_type), titles[number.statistic]),
            number,
            ours[number.statistic].get(number.token_type),
        )
        for number in numbers("correlation")
    ]


def _finding(view: View, rho: pd.DataFrame) -> str:
    """The type for which weight and norm pull most against each other, if there is one."""
    known = rho.dropna(subset="spearman")
    if known.empty:
        return view.say("nothing_varies")
    lowest = known.nsmallest(1, "spearman").iloc[0]
    return view.say(
        f"finding_{'against' if lowest['spearman'] < _WEAK else 'nowhere'}",
        type=token_type_name(lowest["token_type"]),
        rho=signed(lowest["spearman"]),
        n=count(lowest["n"]),
    )


def _map(view: View, scope: Scope) -> None:
    """ρ of every head for one type; a click opens the head."""
    types = ordered_types(ask(correlation.by_type, layer=None, head=None)["token_type"])
    token_type = view.pick("type", types, of="token_type")
    of_types = {kind: ask(correlation.by_head, token_type=kind) for kind in types}
    frame = of_types[token_type]
    if frame["spearman"].isna().all():
        return view.nothing("nothing_varies")
    widest = max(0.1, float(pd.concat(of_types.values())["spearman"].abs().max()))
    layer, head = scope["layer"], scope["head"]
    chart = head_map(
        frame,
        "spearman",
        scale=alt.Scale(scheme="redblue", domain=[-widest, widest]),
        format="+.3f",
        marked=(layer, head) if layer and head else None,
    )
    state, name = (token_type, layer, head), token_type_name(token_type)
    view.figure("heads", frame, chart, state=state, click=True, type=name)


def _density_panels(frame: pd.DataFrame) -> Any:
    """The share of a type's pairs in every cell, from `attention_norm_histogram.densities`."""
    frame = _with_edges(frame[frame["norm_bin"] > 0])
    ticks = [tick for tick in _TICKS if frame["share"].min() <= tick <= frame["share"].max()]
    legend = ramp_below(260, titleLimit=300, labelExpr=_AS_POWER, values=ticks)
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


def _sample_panels(frame: pd.DataFrame) -> Any:
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
    frame = frame.assign(share=frame["n"] / total)
    for name, column, open_bits in _BINS:
        low, high = (edges(frame[column] + step, open_bits) for step in (0, 1))
        frame[f"low_{name}"], frame[f"high_{name}"] = low, high
        frame[f"end_{name}"] = high * _OVERLAP
        frame[name] = [f"{start:.3g} – {end:.3g}" for start, end in zip(low, high, strict=True)]
    return frame


def edges(bins: pd.Series, open_bits: int) -> np.ndarray:
    """The smallest float32 of each bin: floats that are not negative sort as their bits do."""
    return (bins.to_numpy(np.int32) << open_bits).view(np.float32).astype(np.float64)


def _axis(field: str, quantity: str, low: float, high: float) -> alt.X | alt.Y:
    """A logarithmic axis of its ends: of weights across, of norms upwards."""
    axis = {"grid": False, "labelAngle": 0, "labelOverlap": True, "format": "~g", "tickCount": 5}
    if quantity == "pair_attention":
        axis |= {"values": _TICKS, "labelExpr": _AS_POWER}
    channel = alt.X if quantity == "pair_attention" else alt.Y
    return channel(
        f"{field}:Q",
        title=quantity_axis(quantity),
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
