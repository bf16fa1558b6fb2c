"""Findings for the overview on the modules around attention."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pandas as pd

from analysis.statistics.mixing import mixing_ratio, scope_similarity
from analysis.statistics.pairs import relation_share
from pages.ui.finding import Finding, over_layers, rows_of
from pages.ui.store.chosen import ask, layer_order
from pages.ui.words.names import relation_name, step_name
from pages.ui.words.numbers import percent, signed
from pages.ui.words.say import say

_EVERY = "all"
three_decimals = partial(signed, digits=3)
"""ρ with three decimals: two would often round to 1, or be the same for two steps."""


def times(ratio: float) -> str:
    """Format a ratio with two decimals; without decimals from 10 on."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def mean_steps() -> pd.DataFrame:
    """Rank correlation of the mixing before and after every module, the lowest first: name, value.

    Values are means over layers. The step from weights to norms counts as a module.
    """
    steps = ask(scope_similarity.steps)
    steps = steps[steps["layer"].isna()].dropna(subset="spearman").sort_values("spearman")
    names = steps["scope_b"].map(step_name)
    return steps.assign(name=names, value=steps["spearman"]).reset_index(drop=True)


def _similarity() -> Iterator[Finding]:
    """Name the module that changes the mixing most, with ρ of every module."""
    steps = mean_steps()
    if len(steps) < 2:
        return
    named = (steps["name"] + " " + steps["value"].map(three_decimals)).tolist()
    yield Finding(
        say("finding.label_similarity", step=steps["name"].iloc[0]),
        f"ρ = {three_decimals(steps['value'].iloc[0])}",
        say("finding.similarity", step=named[0], others=say("list.comma").join(named[1:])),
        "similarity",
        steps[["name", "value", "low", "high"]],
        baseline=steps["name"].iloc[1],
        format=".3f",
    )


def _mixing_ratio() -> Iterator[Finding]:
    """Mixing ratio of attention alone, with the modules before FF, and of the whole layer."""
    order, frame = layer_order(), ask(mixing_ratio.pooled)
    every = frame[frame["token_type"] == _EVERY].set_index("scope")
    scopes = {"network": order.before_network, "vectors": order.vectors, "whole": order.whole}
    names = {scope: say(f"finding.ratio_at_{name}") for name, scope in scopes.items()}
    after, before, whole = every.loc[list(names), "mean"].map(percent)
    yield Finding(
        say("finding.label_ratio"),
        f"{before} → {after}",
        say("finding.ratio", before=before, after=after, whole=whole),
        "ratio",
        rows_of((names[scope], *every.loc[scope, ["mean", "low", "high"]]) for scope in names),
        baseline=names[order.vectors],
    )


def relation_ratios(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Ratio of every relation's share of a quantity to its share of the mixing before.

    Ratios are means over layers with their evidence, the largest first.

    Args:
        frame: rows of `relation_share.by_layer`.
    """
    of_quantity = frame[frame["quantity"] == quantity].dropna(subset="ratio")
    ends = dict(zip(("ratio", "ratio_low", "ratio_high"), ("mean", "low", "high"), strict=True))
    ratios = of_quantity.drop(columns=list(ends.values())).rename(columns=ends)
    rows = [(str(name), *over_layers(part)) for name, part in ratios.groupby("relation")]
    return rows_of(rows).sort_values("value", ascending=False, ignore_index=True)


def relation_facts(frame: pd.DataFrame, quantity: str, relation: str) -> dict[str, Any]:
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


def _relation() -> Iterator[Finding]:
    """Relation whose share of FF's change is largest relative to its share of the mixing before."""
    frame = ask(relation_share.by_layer, effect="ff")
    ratios = relation_ratios(frame, "change")
    if ratios.empty:
        return
    most, number = str(ratios["name"].iloc[0]), times(ratios["value"].iloc[0])
    yield Finding(
        say("finding.label_relation_share", relation=relation_name(most)),
        say("finding.times", ratio=number),
        say("finding.relation", ratio=number, **relation_facts(frame, "change", most)),
        "modules",
        ratios.assign(name=ratios["name"].map(relation_name)),
        baseline=1.0,
        format=".2f",
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "scope_similarity": _similarity,
    "mixing_ratio": _mixing_ratio,
    "relation_share": _relation,
}
