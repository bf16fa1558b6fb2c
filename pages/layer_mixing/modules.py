"""Relations between tokens whose mixing a module changes, compared with the mixing before it."""

import pandas as pd

from analysis.scopes import RELATIONS
from analysis.statistics.pairs import relation_share
from pages.layer_mixing.findings import relation_facts, relation_ratios, times
from pages.ui.charts.colours import LESS_TO_MORE
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.finding import compared
from pages.ui.page import section
from pages.ui.store.chosen import ask, layer_order
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import effect_meaning, effect_name, relation_name
from pages.ui.words.say import say

_RATIO = ("ratio", "ratio_low", "ratio_high")
_NARROWEST, _WIDEST = 2.0, 64.0  # ends of the scale of ratios lie between these
_BASELINES = {"before": 0.6, "pairs": 0.25}  # opacity of the baselines


@section("modules", relation_share.TABLE)
def modules(view: View) -> None:
    effect = view.pick("effect", list(layer_order().effects), default="ff")
    quantity = view.pick("quantity", ["change", "gain", "loss"])
    frame = ask(relation_share.by_layer, effect=effect)
    lift = _lifts(frame, quantity)
    if lift.empty:
        return view.nothing(f"none_{quantity}", effect=effect_name(effect))
    view.finding(_finding(view, frame, effect, quantity))
    _shares(view, frame, effect, quantity)
    widest = min(max(float(lift["ratio"].max()), _NARROWEST), _WIDEST)
    chart = number_map(
        lift,
        x="layer",
        y="relation",
        value="ratio",
        tooltip=("ratio_low", "ratio_high", quantity, *_BASELINES, "lift"),
        orders={"relation": RELATIONS},
        colours=Ramp(LESS_TO_MORE, 1 / widest, widest, log=True),
        format=".2r",
    )
    view.figure("lift", lift, chart, effect=effect_name(effect))
    meanings = [
        f"1. **{relation_name(relation)}**{view.say('colon')}{say(f'relation.{relation}.meaning')}"
        for relation in RELATIONS
    ]
    with view.place("expander", view.say("relations")):
        view.write("markdown", "\n".join(meanings))


def _lifts(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Ratio of each relation's share of a quantity to its share of the mixing before.

    Returns:
        layer, relation, a column of the quantity's name, ratio, ratio_low, ratio_high, before,
        pairs, lift: the share, its ratio to the share before, both baselines, and the ratio to the
        share of pairs.
    """
    place = ["layer", "relation"]
    shares = frame.pivot(index=place, columns="quantity", values="mean")
    shares = shares.reindex(columns=list(_BASELINES))
    compared = frame[frame["quantity"] == quantity].rename(columns={"mean": quantity})
    compared = compared[[*place, quantity, *_RATIO]].join(shares, on=place)
    compared = compared.dropna(subset=[quantity, "ratio", *_BASELINES])
    return compared.assign(lift=compared[quantity] / compared["pairs"]).reset_index(drop=True)


def _finding(view: View, frame: pd.DataFrame, effect: str, quantity: str) -> str:
    """Name the relation with the largest share relative to the mixing before, with its interval."""
    ratios = relation_ratios(frame, quantity)
    facts = relation_facts(frame, quantity, str(ratios["name"].iloc[0]))
    values = {"effect": effect_name(effect), "quantity": view.say(f"{quantity}_noun")}
    ratio = row_with_interval(ratios.iloc[0], "value", times)
    verdict = view.say(f"finding_{compared(ratios, 1.0)}", **facts)
    return f"{view.say('finding', ratio=ratio, **values, **facts)} {verdict}"


def _shares(view: View, frame: pd.DataFrame, effect: str, quantity: str) -> None:
    """Draw each relation's share of the mixing before, of the change, and of all pairs."""
    opacities = {"before": _BASELINES["before"], quantity: 1.0, "pairs": _BASELINES["pairs"]}
    names = {name: title(name) for name in opacities}
    shown = frame[frame["quantity"].isin(names)]
    chart = paired_stacks(
        shown.assign(side=shown["quantity"].map(names)),
        y="mean",
        colour="relation",
        side="side",
        sides=list(names.values()),
        opacities=list(opacities.values()),
    )
    view.figure(
        "shares",
        shown,
        chart,
        effect=effect_name(effect),
        quantity=view.say(f"{quantity}_noun"),
        step=effect_meaning(effect),
    )
