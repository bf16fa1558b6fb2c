"""Does a step of the layer strengthen what goes together in the corpus anyway?"""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables import pair, pair_delta, pair_pmi_correlation
from pages.shared.about import about
from pages.shared.charts import lines
from pages.shared.choices import pick
from pages.shared.figure import figure
from pages.shared.numbers import count, signed
from pages.shared.scope_names import effect_name, relation_name
from pages.shared.store import ask, layer_order, require
from pages.shared.token_pairs.pair_choice import ROW, clickable_chart, pick_effect, pick_layer
from pages.shared.token_pairs.units import in_points, pair_name, relation_colour, zero_line
from pages.shared.words import say

_DRAWN = 1_500
_WEAK = 0.1  # a ρ nearer to 0 is no tendency worth telling


def show() -> None:
    require(pair_pmi_correlation.TABLE, pair.TABLE, pair_delta.TABLE)
    st.header(say("token_pairs.pmi.title"), anchor=False)
    st.markdown(say("token_pairs.pmi.what"))
    effect, least = _pick_choices()
    frame = ask(pair_pmi_correlation.by_layer, min_count=least).dropna(subset="spearman")
    if frame.empty:
        st.info(say("token_pairs.pmi.nothing", least=least))
        return
    st.markdown(_finding(frame[frame["effect"] == effect], effect))
    _by_layer(frame)
    _points(effect, least, frame)
    about(pair_pmi_correlation.TABLE, pair.TABLE)


def _pick_choices() -> tuple[str, int]:
    left, right = st.columns([2, 1])
    with left:
        effect = pick_effect()
    with right:
        least = pick(
            "tp_pmi_least",
            say("token_pairs.least"),
            pair_pmi_correlation.MIN_COUNTS,
            default=pair_pmi_correlation.MIN_COUNTS[0],
            help=say("token_pairs.pmi.least_help"),
        )
    return effect, least


def _finding(frame: pd.DataFrame, effect: str) -> str:
    """The layers at both ends, and whether their ρ is worth telling."""
    if frame.empty:
        return say("token_pairs.pmi.finding_none", effect=effect_name(effect))
    lowest, highest = (frame.loc[frame["spearman"].agg(end)] for end in ("idxmin", "idxmax"))
    strongest = max(abs(lowest["spearman"]), abs(highest["spearman"]))
    return say(
        f"token_pairs.pmi.finding_{'weak' if strongest < _WEAK else 'some'}",
        effect=effect_name(effect),
        low=signed(lowest["spearman"]),
        low_layer=int(lowest["layer"]),
        high=signed(highest["spearman"]),
        high_layer=int(highest["layer"]),
    )


def _by_layer(frame: pd.DataFrame) -> None:
    order = [each for each in layer_order().effects if each in set(frame["effect"])]
    shown = frame.assign(
        name=frame["effect"].map(effect_name), place=frame["effect"].map(order.index)
    )
    shown = shown.sort_values(["place", "layer"])
    drawn = lines(
        shown,
        x="layer",
        y="spearman",
        colour="name",
        x_title=say("axis.layer"),
        y_title=say("token_pairs.pmi.rho"),
        colour_title=" ",
        height=380,
    )
    zero = zero_line().encode(y="zero:Q")
    figure(
        alt.layer(zero, drawn),
        key="tp_pmi_layers",
        question=say("token_pairs.pmi.layers"),
        caption=say("token_pairs.pmi.layers_caption"),
        frame=frame,
        alt=say("token_pairs.pmi.layers"),
    )


def _points(effect: str, least: int, correlations: pd.DataFrame) -> None:
    """Pairs of one layer as points; a click opens one."""
    with st.columns(4)[0]:
        layer = pick_layer()
    frame = ask(
        pair_pmi_correlation.points, layer=layer, effect=effect, min_count=least, limit=_DRAWN
    ).reset_index(drop=True)
    if frame.empty:
        st.info(say("token_pairs.pmi.nothing", least=least))
        return
    here = correlations[(correlations["layer"] == layer) & (correlations["effect"] == effect)]
    told = {"layer": layer, "effect": effect_name(effect)}
    numbers = {"n": count(len(frame)), "rho": "–", "n_pairs": "–"}
    if len(here):
        numbers |= {
            "rho": signed(here["spearman"].iloc[0]),
            "n_pairs": count(here["n_pairs"].iloc[0]),
        }
    clickable_chart(
        _scatter(frame),
        "tp_pmi_points",
        key=f"tp_pmi_points_{layer}_{effect}_{least}",
        question=say("token_pairs.pmi.points", **told),
        caption=say("token_pairs.pmi.points_caption", **numbers),
        frame=frame,
    )


def _scatter(frame: pd.DataFrame) -> Any:
    shown = in_points(frame).assign(
        row=frame.index,
        relation=frame["relation"].map(relation_name),
        pair=[pair_name(*each) for each in zip(frame["source"], frame["target"], strict=True)],
    )
    pick_one = alt.selection_point(name="pair", fields=[ROW], on="click", empty=False)
    marks = (
        alt.Chart(shown)
        .mark_circle(size=34, opacity=0.6, cursor="pointer")
        .encode(
            x=alt.X(
                "pmi:Q",
                title=say("token_pairs.axis.pmi"),
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=8),
            ),
            y=alt.Y("mean_delta:Q", title=say("token_pairs.axis.mean_delta")),
            color=relation_colour(frame["relation"], orient="top", columns=3),
            tooltip=[
                alt.Tooltip("pair:N", title=say("token_pairs.pair")),
                alt.Tooltip("pmi:Q", title=say("token_pairs.column.pmi"), format=".2f"),
                alt.Tooltip(
                    "mean_delta:Q", title=say("token_pairs.column.mean_delta"), format="+.2f"
                ),
                alt.Tooltip("n:Q", title=say("token_pairs.column.n"), format=",d"),
                alt.Tooltip("relation:N", title=say("token_pairs.column.relation")),
            ],
        )
        .add_params(pick_one)
    )
    zero = zero_line().encode(y="zero:Q")
    return alt.layer(zero, marks).properties(height=420)
