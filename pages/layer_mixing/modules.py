"""Between which kinds of tokens a module changes the mixing, and how much they held before."""

import pandas as pd
import streamlit as st

from analysis.scopes import RELATIONS
from analysis.tables.pairs import relation_share
from pages.ui.about import about
from pages.ui.charts.colours import LESS_TO_MORE, RELATION_COLOURS
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.store.chosen import ask, layer_order, require
from pages.ui.words.names import effect_meaning, effect_name, relation_meaning, relation_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_QUANTITIES = ("change", "gain", "loss")
_RATIO = ("ratio", "ratio_low", "ratio_high")
_NARROWEST, _WIDEST = 2.0, 64.0  # times the share before, between which the scale ends
_CLEAR = 1.1  # a ratio below is no more than the mixing before lets expect, however sure it is
_SIDES = {"before": 0.6, "pairs": 0.25}  # what the chosen quantity stands beside, and how faint


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
    """How a relation's share of the quantity compares with that of the mixing before.

    Returns:
        layer, relation, name, mean, ratio, ratio_low, ratio_high, before, pairs, lift: the share,
        its ratio to the share before, both baselines, and the ratio to the share of pairs.
    """
    index = ["layer", "relation", "name"]
    change = frame[frame["quantity"] == quantity].set_index(index)[["mean", *_RATIO]]
    for each in _SIDES:
        of_side = frame[frame["quantity"] == each].set_index(index)["mean"].rename(each)
        change = change.join(of_side, how="inner")
    compared = change.dropna(subset=["mean", "ratio", *_SIDES])
    return compared.assign(lift=compared["mean"] / compared["pairs"]).reset_index()


def _finding(lift: pd.DataFrame, effect: str, quantity: str) -> str:
    """The relation that is furthest above its share of the mixing before, and how surely."""
    most = furthest_above(lift)
    here = lift[lift["relation"] == most.name]
    if most["ratio"] < _CLEAR:
        kind = "even"
    elif here["ratio_low"].isna().all():
        kind = "unsure"
    else:
        kind = "clear" if (here["ratio_low"] > 1).any() else "even"
    peak = here.nlargest(1, "ratio").iloc[0]
    return say(
        f"layer_mixing.modules.finding_{kind}",
        effect=effect_name(effect),
        quantity=say(f"layer_mixing.modules.{quantity}_told"),
        relation=relation_name(str(most.name)),
        share=percent(most["mean"]),
        before=percent(most["before"]),
        pairs=percent(most["pairs"]),
        ratio=times(most["ratio"]),
        lift=times(most["lift"]),
        above=int((here["ratio_low"] > 1).sum()),
        below=int((here["ratio_high"] < 1).sum()),
        layers=len(here),
        layer=int(peak["layer"]),
        peak=f"{peak['ratio']:.2f}",
        low=f"{peak['ratio_low']:.2f}",
        high=f"{peak['ratio_high']:.2f}",
    )


def furthest_above(lift: pd.DataFrame) -> pd.Series:
    """The relation with the greatest ratio over all layers together: its name, shares, ratios."""
    means = lift.groupby("relation", observed=True)[["mean", "before", "pairs"]].mean()
    means["ratio"] = means["mean"] / means["before"]
    means["lift"] = means["mean"] / means["pairs"]
    return means.iloc[int(means["ratio"].argmax())]


def times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def _shares(frame: pd.DataFrame, effect: str, quantity: str) -> None:
    """What held the mixing before, beside where the change goes, and what pairs there are."""
    opacities = {"before": _SIDES["before"], quantity: 1.0, "pairs": _SIDES["pairs"]}
    sides = {name: say(f"layer_mixing.modules.side_{name}") for name in opacities}
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
        sides=tuple(sides.values()),
        opacities=tuple(opacities.values()),
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
    """How many times its share of the mixing before a relation has of the change."""
    widest = min(max(float(lift["ratio"].max()), _NARROWEST), _WIDEST)
    question = say("layer_mixing.modules.lift", effect=effect_name(effect))
    chart = number_map(
        lift,
        x="layer",
        y="name",
        value="ratio",
        titles={
            "layer": say("axis.layer"),
            "name": say("layer_mixing.modules.relation"),
            "ratio": say("layer_mixing.modules.lift_axis"),
            "ratio_low": say("layer_mixing.low"),
            "ratio_high": say("layer_mixing.high"),
            "mean": say(f"layer_mixing.modules.side_{quantity}"),
            "before": say("layer_mixing.modules.side_before"),
            "pairs": say("layer_mixing.modules.side_pairs"),
            "lift": say("layer_mixing.modules.pairs_axis"),
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
