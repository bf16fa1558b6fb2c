"""Where attention weight goes and where the summed vectors come from, layer by layer (figure 5)."""

from typing import Literal

import pandas as pd
import streamlit as st

from analysis.tables.norms import token_type_mixing
from pages.attention_norms.findings import SPECIAL
from pages.ui.about import about
from pages.ui.charts.standard import bars
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.quantities import (
    QUANTITIES,
    in_type_order,
    quantity_axis,
    quantity_name,
)
from pages.ui.words.say import say

Unit = Literal["length", "share"]
_NEAR = 0.02  # shares that differ by less are told as the same


def show() -> None:
    require(token_type_mixing.TABLE)
    st.header(say("attention_norms.layers.title"), anchor=False)
    left, right = st.columns(2)
    with left:
        head = _pick_head()
    with right:
        shown = _pick_quantity()
    frame = ask(token_type_mixing.by_layer, head=head)
    st.markdown(_finding(_wide(frame)))
    _charts(frame, shown)
    _table(_wide(frame))
    about(token_type_mixing.TABLE)


def _pick_head() -> int | None:
    """One head of every layer, or None for the mean over the heads."""
    heads = range(1, int(open_store().run["n_heads"]) + 1)
    named: dict[str | int, str] = {"mean": say("attention_norms.layers.mean")}
    named |= {head: say("attention_norms.layers.one_head", head=head) for head in heads}
    chosen = pick(
        "an_layers_head",
        say("attention_norms.layers.head"),
        list(named),
        default="mean",
        format=named.__getitem__,
        kind="select",
    )
    return None if chosen == "mean" else int(chosen)


def _pick_quantity() -> str:
    """One quantity, or the pair of weight and ‖αf(x)‖."""
    return pick(
        "an_quantity",
        say("attention_norms.layers.quantity"),
        ["pair", *QUANTITIES],
        default="pair",
        format=lambda each: (
            say("attention_norms.layers.pair") if each == "pair" else quantity_name(each)
        ),
    )


def _charts(frame: pd.DataFrame, shown: str) -> None:
    """Two quantities beside each other, or one across the page."""
    unit = _pick_unit() if shown in ("pair", "weighted_norm") else "length"
    if shown != "pair":
        return _chart(frame, shown, unit)
    for place, quantity in zip(st.columns(2), ("attention", "weighted_norm"), strict=True):
        with place:
            _chart(frame, quantity, unit)


def _pick_unit() -> Unit:
    units: tuple[Unit, ...] = ("length", "share")
    return pick(
        "an_norm_as",
        say("attention_norms.layers.norm_as"),
        units,
        default=units[0],
        format=lambda each: say(f"attention_norms.layers.as_{each}"),
    )


def _chart(frame: pd.DataFrame, quantity: str, unit: Unit) -> None:
    frame = frame[frame["quantity"] == quantity]
    told = quantity
    if quantity == "weighted_norm" and unit == "share":
        frame, told = _shares(frame), "weighted_norm_share"
    chart = bars(
        frame,
        x="layer",
        y="mean",
        colour="token_type",
        low="low",
        high="high",
        x_title=say("axis.layer"),
        y_title=quantity_axis(told),
        colour_title=say("attention_norms.token_type"),
    )
    figure(
        chart,
        key=f"an_layers_{told}",
        question=say(f"attention_norms.layers.question_{quantity}"),
        caption=say(f"attention_norms.layers.caption_{told}"),
        frame=frame,
        alt=say(f"attention_norms.layers.question_{quantity}"),
    )


def _shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Means and intervals over the layer's total of the means."""
    total = frame.groupby("layer")["mean"].transform("sum")
    return frame.assign(**{name: frame[name] / total for name in ("mean", "low", "high")})


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per layer and type: the three means, and the share of the layer's ‖αf(x)‖."""
    wide = frame.pivot(
        index=["layer", "token_type", "n_present"], columns="quantity", values="mean"
    ).reset_index()
    total = wide.groupby("layer")["weighted_norm"].transform("sum")
    return in_type_order(wide).assign(norm_share=wide["weighted_norm"] / total)


def _finding(wide: pd.DataFrame) -> str:
    """Which special type gets most weight, and how much of the norm arrives from it."""
    means = wide.groupby("token_type")[["attention", "weighted_norm"]].sum()
    means = (means / means.sum()).reindex([each for each in SPECIAL if each in means.index])
    if means.empty:
        return say("attention_norms.layers.no_special")
    most = str(means["attention"].idxmax())
    peak = wide[wide["token_type"] == most].nlargest(1, "attention").iloc[0]
    weight, norm = _weight_and_norm(means.loc[[most]])
    sentence = say(
        f"attention_norms.layers.finding_{_direction(weight, norm)}",
        type=token_type_name(most),
        weight=percent(weight),
        norm=percent(norm),
        layer=peak["layer"],
        peak=percent(peak["attention"]),
        peak_norm=percent(peak["norm_share"]),
    )
    if len(means) == 1:
        return sentence
    weight, norm = _weight_and_norm(means)
    together = say("attention_norms.layers.together", weight=percent(weight), norm=percent(norm))
    return f"{sentence} {together}"


def _weight_and_norm(means: pd.DataFrame) -> tuple[float, float]:
    """Both shares, over all rows together."""
    return float(means["attention"].sum()), float(means["weighted_norm"].sum())


def _direction(weight: float, norm: float) -> str:
    if abs(norm - weight) < _NEAR:
        return "same"
    return "less" if norm < weight else "more"


def _table(wide: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    table(
        wide.assign(token_type=wide["token_type"].map(token_type_name)),
        key="an_layers_table",
        question=say("attention_norms.layers.table"),
        caption=say("attention_norms.layers.table_caption"),
        columns={
            "layer": number(say("axis.layer")),
            "token_type": say("attention_norms.token_type"),
            "attention": number(quantity_name("attention"), format="%.4f"),
            "value_norm": number(quantity_name("value_norm"), format="%.3f"),
            "weighted_norm": number(quantity_name("weighted_norm"), format="%.4f"),
            "norm_share": number(say("attention_norms.norm_share"), format="%.4f"),
            "n_present": number(say("attention_norms.n_present"), format="localized"),
        },
    )
