"""Between which kinds of tokens a module changes the mixing, and how many such pairs there are."""

import pandas as pd
import streamlit as st

from analysis.scopes import RELATIONS
from analysis.tables import relation_share
from pages.shared.about import about
from pages.shared.choices import pick
from pages.shared.figure import figure
from pages.shared.number_map import LESS_TO_MORE, Ramp, number_map
from pages.shared.numbers import percent
from pages.shared.paired_stacks import paired_stacks
from pages.shared.scope_names import (
    RELATION_COLOURS,
    effect_meaning,
    effect_name,
    relation_meaning,
    relation_name,
)
from pages.shared.store import ask, layer_order, require
from pages.shared.words import say

_QUANTITIES = ("change", "gain", "loss")
_ENDS = ("mean", "low", "high")
_NARROWEST, _WIDEST = 4.0, 64.0  # times the share of pairs, between which the scale ends
_CLEAR = 1.1  # a lift below is no more than the pairs let expect


def show() -> None:
    require(relation_share.TABLE)
    st.header(say("layer_mixing.modules.title"), anchor=False)
    st.markdown(say("layer_mixing.modules.meaning"))
    effect, quantity = _pick()
    frame = ask(relation_share.by_layer, effect=effect)
    frame = frame.assign(name=frame["relation"].map(relation_name))
    lift = lifts(frame, quantity)
    if lift.empty:
        st.info(say(f"layer_mixing.modules.none_{quantity}", effect=effect_name(effect)))
        return
    st.markdown(_finding(lift, effect, quantity))
    _shares(frame, effect, quantity)
    _lift_map(lift, effect, quantity)
    with st.expander(say("layer_mixing.modules.relations")):
        st.markdown(_relations())
    about(relation_share.TABLE)


def _pick() -> tuple[str, str]:
    """The module, and whether all of the change counts or only one direction."""
    effect = pick(
        "lm_effect",
        say("layer_mixing.modules.effect"),
        list(layer_order().effects),
        default="ff",
        format=effect_name,
        help=say("layer_mixing.modules.effect_help"),
    )
    quantity = pick(
        "lm_quantity",
        say("layer_mixing.modules.quantity"),
        _QUANTITIES,
        default="change",
        format=lambda each: say(f"layer_mixing.modules.{each}"),
    )
    return effect, quantity


def lifts(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Share of the quantity over share of the pairs, with the interval over the same share."""
    index = ["layer", "relation", "name"]
    change = frame[frame["quantity"] == quantity].set_index(index)[list(_ENDS)]
    pairs = frame[frame["quantity"] == "pairs"].set_index(index)["mean"].rename("pairs")
    both = change.join(pairs, how="inner").dropna(subset=["mean", "pairs"])
    both = both[both["pairs"] > 0]
    for name in _ENDS:
        both[f"lift_{name}"] = both[name] / both["pairs"]
    return both.reset_index()


def _finding(lift: pd.DataFrame, effect: str, quantity: str) -> str:
    """The relation with the greatest lift over all layers together, and where it is greatest."""
    means = lift.groupby("relation")[["mean", "pairs"]].mean().reset_index()
    means["lift"] = means["mean"] / means["pairs"]
    most = means.nlargest(1, "lift").iloc[0]
    if most["lift"] < _CLEAR:
        return say("layer_mixing.modules.finding_even", effect=effect_name(effect))
    peak = lift[lift["relation"] == most["relation"]].nlargest(1, "lift_mean").iloc[0]
    return say(
        "layer_mixing.modules.finding",
        effect=effect_name(effect),
        quantity=say(f"layer_mixing.modules.{quantity}_told"),
        relation=relation_name(most["relation"]),
        share=percent(most["mean"]),
        pairs=percent(most["pairs"]),
        lift=_times(most["lift"]),
        layer=int(peak["layer"]),
        peak=_times(peak["lift_mean"]),
    )


def _times(lift: float) -> str:
    return f"{lift:.1f}" if lift < 10 else f"{lift:.0f}"


def _shares(frame: pd.DataFrame, effect: str, quantity: str) -> None:
    """What the pairs are, beside where the change goes."""
    sides = {name: say(f"layer_mixing.modules.side_{name}") for name in ("pairs", quantity)}
    shown = frame[frame["quantity"].isin(sides)]
    question = say(
        "layer_mixing.modules.question",
        effect=effect_name(effect),
        quantity=say(f"layer_mixing.modules.{quantity}_told"),
    )
    chart = paired_stacks(
        shown.assign(side=shown["quantity"].map(sides)),
        y="mean",
        colour="name",
        colours={relation_name(each): RELATION_COLOURS[each] for each in RELATIONS},
        side="side",
        sides=(sides["pairs"], sides[quantity]),
        y_title=say("layer_mixing.share"),
        titles={
            "name": say("layer_mixing.modules.relation"),
            "side": say("layer_mixing.modules.of"),
            "low": say("layer_mixing.low"),
            "high": say("layer_mixing.high"),
        },
    )
    figure(
        chart,
        key=f"lm_shares_{effect}_{quantity}",
        question=question,
        caption=say("layer_mixing.modules.caption", step=effect_meaning(effect)),
        frame=shown,
        alt=question,
    )


def _lift_map(lift: pd.DataFrame, effect: str, quantity: str) -> None:
    """How many times more than their number the pairs of a relation are changed."""
    widest = min(max(float(lift["lift_mean"].max()), _NARROWEST), _WIDEST)
    question = say("layer_mixing.modules.lift", effect=effect_name(effect))
    chart = number_map(
        lift,
        x="layer",
        y="name",
        value="lift_mean",
        titles={
            "layer": say("axis.layer"),
            "name": say("layer_mixing.modules.relation"),
            "lift_mean": say("layer_mixing.modules.lift_axis"),
            "lift_low": say("layer_mixing.low"),
            "lift_high": say("layer_mixing.high"),
            "mean": say(f"layer_mixing.modules.side_{quantity}"),
            "pairs": say("layer_mixing.modules.side_pairs"),
        },
        orders={
            "layer": sorted(lift["layer"].unique()),
            "name": [relation_name(each) for each in RELATIONS],
        },
        colours=Ramp(LESS_TO_MORE, 1 / widest, widest, log=True),
        format=".2r",
    )
    figure(
        chart,
        key=f"lm_lift_{effect}_{quantity}",
        question=question,
        caption=say("layer_mixing.modules.lift_caption"),
        frame=lift,
        alt=question,
    )


def _relations() -> str:
    """What each relation means; the first that fits is a pair's relation."""
    return "\n".join(
        f"1. **{relation_name(each)}**{say('layer_mixing.colon')}{relation_meaning(each)}"
        for each in RELATIONS
    )
