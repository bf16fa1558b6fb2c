"""Relations between tokens whose mixing a module changes, compared with the mixing before it."""

from typing import Any

import pandas as pd

from analysis.scopes import RELATIONS
from analysis.statistics.pairs import relation_share
from pages.ui.charts.colours import LESS_TO_MORE
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.finding import Finding, Findings, compared, over_layers, rows_of
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import effect_meaning, effect_name, relation_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_RATIO = ("ratio", "ratio_low", "ratio_high")
_NARROWEST, _WIDEST = 2.0, 64.0  # ends of the scale of ratios lie between these
_BASELINES = {"before": 0.6, "pairs": 0.25}  # opacity of the baselines


def _summary(inquiry: Inquiry) -> Findings:
    """Relation whose share of FF's change is largest relative to its share of the mixing before."""
    frame = inquiry.ask(relation_share.by_layer, effect="ff")
    ratios = _mean_ratios(frame, "change")
    if ratios.empty:
        return
    most, number = str(ratios["name"].iloc[0]), _times(ratios["value"].iloc[0])
    yield Finding(
        say("finding.label_relation_share", relation=relation_name(most)),
        say("finding.times", ratio=number),
        say("finding.relation", ratio=number, **_facts(frame, "change", most)),
        ratios.assign(name=ratios["name"].map(relation_name)),
        baseline=1.0,
        format=".2f",
    )


@section("modules", relation_share.TABLE, findings=_summary)
def modules(view: View) -> None:
    effect = view.pick("effect", list(view.store.layer_order.effects), default="ff")
    quantity = view.pick("quantity", ["change", "gain", "loss"])
    frame = view.ask(relation_share.by_layer, effect=effect)
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
    ratios = _mean_ratios(frame, quantity)
    facts = _facts(frame, quantity, str(ratios["name"].iloc[0]))
    values = {"effect": effect_name(effect), "quantity": view.say(f"{quantity}_noun")}
    ratio = row_with_interval(ratios.iloc[0], "value", _times)
    verdict = view.say(f"finding_{compared(ratios, 1.0)}", **facts)
    return f"{view.say('finding', ratio=ratio, **values, **facts)} {verdict}"


def _times(ratio: float) -> str:
    """Format a ratio with two decimals; without decimals from 10 on."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _mean_ratios(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Ratio of every relation's share of a quantity to its share of the mixing before.

    Ratios are means over layers with their evidence, the largest first.

    Args:
        frame: rows of `relation_share.by_layer`.
    """
    ratios = frame[frame["quantity"] == quantity].dropna(subset="ratio")
    ratios = ratios.assign(mean=ratios["ratio"], low=ratios["ratio_low"], high=ratios["ratio_high"])
    rows = [(str(name), *over_layers(part)) for name, part in ratios.groupby("relation")]
    return rows_of(rows).sort_values("value", ascending=False, ignore_index=True)


def _facts(frame: pd.DataFrame, quantity: str, relation: str) -> dict[str, Any]:
    """Mean shares of a relation over layers, and the number of layers whose ratio is clear of 1."""
    here = frame[frame["relation"] == relation]
    shares = here.groupby("quantity")["mean"].mean().reindex([quantity, "before", "pairs"])
    ratios = here[here["quantity"] == quantity].dropna(subset="ratio")
    return {
        "relation": relation_name(relation),
        **dict(zip(("share", "before", "pairs"), shares.map(percent), strict=True)),
        "above": int((ratios["ratio_low"] > 1).sum()),
        "below": int((ratios["ratio_high"] < 1).sum()),
        "layers": len(ratios),
    }


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
        step=effect_meaning(view.store, effect),
    )
