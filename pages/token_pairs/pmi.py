"""Does a step of the layer strengthen what goes together in the corpus anyway?"""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta, pair_pmi_correlation
from pages.token_pairs.pair_choice import ROW, clickable_chart, pick_effect, pick_layer
from pages.token_pairs.units import in_points, pair_name, relation_colour, zero_line
from pages.ui.about import about
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.store.chosen import ask, layer_order, require
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import count, signed
from pages.ui.words.say import say

_DRAWN = 1_500
_WINDOWS = {str(size or "sequence"): size for size in reversed(pair_pmi_correlation.WINDOWS)}


def show() -> None:
    require(pair_pmi_correlation.TABLE, pair.TABLE, pair_delta.TABLE)
    st.header(say("token_pairs.pmi.title"), anchor=False)
    st.markdown(say("token_pairs.pmi.what"))
    st.markdown(say("token_pairs.pmi.given"))
    effect, window, least = _pick_choices()
    frame = ask(
        pair_pmi_correlation.by_layer, min_count=least, window_size=_WINDOWS[window]
    ).dropna(subset="spearman")
    if frame.empty:
        st.info(say("token_pairs.pmi.nothing", least=least))
        return
    st.markdown(_finding(frame[frame["effect"] == effect], effect, window))
    _compared(frame[frame["effect"] == effect], effect)
    _by_layer(frame[frame["quantity"] == "partial"])
    if window == "sequence":
        _points(effect, least, frame)
    else:
        st.info(say("token_pairs.pmi.points_elsewhere"))
    about(pair_pmi_correlation.TABLE, pair.TABLE)


def _pick_choices() -> tuple[str, str, int]:
    left, middle, right = st.columns([2, 2, 1])
    with left:
        effect = pick_effect()
    with middle:
        window = pick(
            "tp_pmi_window",
            say("token_pairs.pmi.window"),
            list(_WINDOWS),
            default="sequence",
            format=_window_name,
            help=say("token_pairs.pmi.window_help"),
        )
    with right:
        least = pick(
            "tp_pmi_least",
            say("token_pairs.least"),
            pair_pmi_correlation.MIN_COUNTS,
            default=pair_pmi_correlation.MIN_COUNTS[0],
            help=say("token_pairs.pmi.least_help"),
        )
    return effect, window, least


def _window_name(window: str) -> str:
    return say(f"token_pairs.pmi.window_{window}")


def _finding(frame: pd.DataFrame, effect: str, window: str) -> str:
    """Partial ρ at both ends of the layers, whether it is clear of 0, and the ρ it came from."""
    partial = frame[frame["quantity"] == "partial"]
    if partial.empty:
        return say("token_pairs.pmi.finding_none", effect=effect_name(effect))
    told: dict[str, Any] = {"effect": effect_name(effect), "window": _window_name(window)}
    raw = frame[frame["quantity"] == "pmi"].set_index("layer")["spearman"]
    for name, end in (("low", "idxmin"), ("high", "idxmax")):
        row = partial.loc[partial["spearman"].agg(end)]
        told |= {name: _sure(row), f"{name}_layer": int(row["layer"])}
        told[f"{name}_raw"] = signed(raw[row["layer"]])
    sure = partial.dropna(subset=["low", "high"])
    above, below = int((sure["low"] > 0).sum()), int((sure["high"] < 0).sum())
    kind = "unsure" if sure.empty else "clear" if above or below else "unclear"
    told |= {"above": above, "below": below, "layers": len(partial)}
    return say(f"token_pairs.pmi.finding_{kind}", **told)


def _sure(row: pd.Series) -> str:
    """ρ with its interval, if it has one."""
    rho = signed(row["spearman"])
    if pd.isna(row["low"]):
        return rho
    return f"{rho} [{signed(row['low'])}, {signed(row['high'])}]"


def _compared(frame: pd.DataFrame, effect: str) -> None:
    """One step: PMI given the words' frequencies, beside what it and they have by themselves."""
    names = [say(f"token_pairs.pmi.quantity_{each}") for each in pair_pmi_correlation.QUANTITIES]
    named = dict(zip(pair_pmi_correlation.QUANTITIES, names, strict=True))
    question = say("token_pairs.pmi.compared", effect=effect_name(effect))
    shown = frame.assign(name=frame["quantity"].map(named))
    _lines(
        shown.sort_values(["name", "layer"], key=lambda each: each.map(_place(names))),
        key=f"tp_pmi_compared_{effect}",
        question=question,
        caption=say("token_pairs.pmi.compared_caption"),
        frame=frame,
    )


def _place(names: list[str]) -> Any:
    """Where a name stands; a layer stands where its number says."""
    places = {name: place for place, name in enumerate(names)}
    return lambda each: places.get(each, each)


def _by_layer(frame: pd.DataFrame) -> None:
    """Every step: PMI given the words' frequencies."""
    order = [each for each in layer_order().effects if each in set(frame["effect"])]
    names = [effect_name(each) for each in order]
    shown = frame.assign(name=frame["effect"].map(effect_name))
    _lines(
        shown.sort_values(["name", "layer"], key=lambda each: each.map(_place(names))),
        key="tp_pmi_layers",
        question=say("token_pairs.pmi.layers"),
        caption=say("token_pairs.pmi.layers_caption"),
        frame=frame,
    )


def _lines(
    shown: pd.DataFrame, *, key: str, question: str, caption: str, frame: pd.DataFrame
) -> None:
    sure = bool(shown["low"].notna().any())
    drawn = lines(
        shown,
        x="layer",
        y="spearman",
        colour="name",
        low="low" if sure else None,
        high="high" if sure else None,
        x_title=say("axis.layer"),
        y_title=say("token_pairs.pmi.rho"),
        colour_title=" ",
        height=380,
    )
    zero = zero_line().encode(y="zero:Q")
    interval = say(f"token_pairs.pmi.interval_{'sure' if sure else 'unsure'}")
    figure(
        alt.layer(zero, drawn),
        key=key,
        question=question,
        caption=f"{caption} {interval}",
        frame=frame,
        alt=question,
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
    found = here.set_index("quantity")["spearman"].map(signed)
    clickable_chart(
        _scatter(frame),
        "tp_pmi_points",
        key=f"tp_pmi_points_{layer}_{effect}_{least}",
        question=say("token_pairs.pmi.points", layer=layer, effect=effect_name(effect)),
        caption=say(
            "token_pairs.pmi.points_caption",
            n=count(len(frame)),
            rho=found.get("pmi", "–"),
            partial=found.get("partial", "–"),
            n_pairs=count(here["n_pairs"].iloc[0]) if len(here) else "–",
        ),
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
