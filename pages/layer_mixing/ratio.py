"""Mixing ratio: the share of context in a token, by scope (Kobayashi et al. 2021)."""

from functools import partial

import pandas as pd

from analysis.published.numbers import numbers
from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.statistics.mixing import mixing_ratio
from analysis.statistics.mixing.mixing_ratio import MASK_TYPES
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.charts.standard import lines
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.page import section
from pages.ui.published_table import Row, show_published, statistic_of
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval, side_of, verdict
from pages.ui.words.names import scope_name, token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_TYPES = ("all", *MASK_TYPES[:-1])


def _summary(inquiry: Inquiry) -> Findings:
    """Mixing ratio of attention alone, with the modules before FF, and of the whole layer."""
    order, every = inquiry.store.layer_order, _of_all(inquiry.ask(mixing_ratio.pooled))
    scopes = {"network": order.before_network, "vectors": order.vectors, "whole": order.whole}
    names = {scope: say(f"finding.ratio_at_{name}") for name, scope in scopes.items()}
    after, before, whole = every.loc[list(names), "mean"].map(percent)
    yield Finding(
        say("finding.label_ratio"),
        f"{before} → {after}",
        say("finding.ratio", before=before, after=after, whole=whole),
        rows_of((names[scope], *every.loc[scope, ["mean", "low", "high"]]) for scope in names),
        baseline=names[order.vectors],
    )


@section("ratio", mixing_ratio.TABLE, findings=_summary)
def ratio(view: View) -> None:
    pooled = view.ask(mixing_ratio.pooled)
    order, present = view.store.layer_order, set(pooled["token_type"])
    view.finding(_finding(view, _of_all(pooled)))
    types = [token_type for token_type in _TYPES if token_type in present]
    kind = view.pick("type", types, of="token_type")
    with_residual = (WEIGHTS_WITH_RESIDUAL, *order.from_residual)
    scopes = order.of_ratios if view.pick("span", ["all", "residual"]) == "all" else with_residual
    curves = view.ask_each(mixing_ratio.by_layer, "scope", scopes)
    curves = curves[curves["token_type"] == kind]
    view.figure(
        "curves",
        curves,
        lines(curves, y="mean", colour="scope", height=360),
        type=token_type_name(kind),
        vectors=scope_name(order.vectors),
        residual=scope_name(order.with_residual),
        weights_residual=scope_name(WEIGHTS_WITH_RESIDUAL),
    )
    view.table(
        "table",
        pooled[pooled["token_type"] == kind],
        ["scope", "mean", "low", "high", "std", "min", "max", "n"],
        type=token_type_name(kind),
    )
    show_published(view, "ratio", *_pooled(pooled))
    _map(view, types)


def _of_all(pooled: pd.DataFrame) -> pd.DataFrame:
    """Rows of all token types, by scope."""
    return pooled[pooled["token_type"].eq("all")].set_index("scope")


def _finding(view: View, rows: pd.DataFrame) -> str:
    """Compare the mixing ratio of attention alone with that of larger scopes."""
    order = view.store.layer_order
    shares, before, after = (
        rows["mean"].map(percent),
        rows.loc[order.vectors],
        rows.loc[order.before_network],
    )
    vectors, normed = (
        row_with_interval(row, written=partial(percent, digits=1)) for row in (before, after)
    )
    ends = (*after[["low", "high"]], *before[["low", "high"]])
    scopes = view.say(
        "finding_scopes",
        weights=shares["attn_w"],
        weights_residual=shares[WEIGHTS_WITH_RESIDUAL],
        name=scope_name(WEIGHTS_WITH_RESIDUAL),
        residual=shares[order.with_residual],
        network=shares[order.network],
        whole=shares[order.whole],
    )
    finding = view.say("finding", vectors=vectors, normed=normed)
    return f"{finding} {verdict(side_of(*ends))} {scopes}"


def _pooled(pooled: pd.DataFrame) -> list[Row]:
    """Rows for the mean, greatest and least ratio over tokens and layers, scope by scope."""
    ratios = pooled.set_index(["scope", "token_type"])
    return [
        Row(
            statistic_of(scope_name(number.scope), say(f"words.column.{number.statistic}")),
            number,
            ratios[number.statistic].get((number.scope, number.token_type)),
        )
        for number in numbers("mixing_ratio", layer=None)
    ]


def _by_layer(by_layer: pd.DataFrame, scope: str) -> list[Row]:
    """Rows for one scope by layer and by token type; the papers have four scopes."""
    ratios = by_layer.set_index(["layer", "token_type"])["mean"]
    return [
        Row(
            statistic_of(
                say("published.layer", layer=number.layer), token_type_name(number.token_type)
            ),
            number,
            ratios.get((number.layer, number.token_type)),
        )
        for number in numbers("mixing_ratio", scope=scope)
        if number.layer is not None
    ]


def _map(view: View, types: list[str]) -> None:
    """Draw the ratio at one scope, by layer and token type."""
    scope = view.pick(
        "scope", view.store.layer_order.of_ratios, default=view.store.layer_order.whole
    )
    frame, name = view.ask_each(mixing_ratio.by_layer, "scope", [scope]), scope_name(scope)
    highest = min(1.0, int(float(frame["mean"].max()) * 10 + 1) / 10)
    chart = number_map(
        frame,
        x="layer",
        y="token_type",
        value="mean",
        tooltip=("low", "high", "min", "max", "n"),
        orders={"token_type": types},
        colours=Ramp(LOW_TO_HIGH, 0.0, highest),
        format=".2f",
    )
    view.figure("map", frame, chart, scope=name)
    show_published(view, "ratio_layers", *_by_layer(frame, scope), scope=name)
