"""How much of a token is context and how much is the token itself (Kobayashi et al. 2021)."""

import pandas as pd
import streamlit as st

from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.tables.mixing import mixing_ratio
from pages.layer_mixing.published import layer_ratios, pooled_ratios
from pages.ui.about import about
from pages.ui.charts.number_map import LOW_TO_HIGH, Ramp, number_map
from pages.ui.charts.standard import lines, token_type_name
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.published import beside
from pages.ui.store.chosen import ask, layer_order, require
from pages.ui.words.numbers import percent
from pages.ui.words.say import say
from pages.ui.words.scope_names import SCOPE_COLOURS, scope_name

_ALL = "all"
_TYPES = (_ALL, "cls", "sep", "mask", "other")
_SPANS = ("all", "residual")
_STATISTICS = ("mean", "low", "high", "std", "min", "max")


def show() -> None:
    require(mixing_ratio.TABLE)
    st.header(say("layer_mixing.ratio.title"), anchor=False)
    st.markdown(say("layer_mixing.ratio.meaning"))
    pooled = ask(mixing_ratio.pooled)
    st.markdown(_finding(pooled[pooled["token_type"] == _ALL]))
    types = [each for each in _TYPES if (pooled["token_type"] == each).any()]
    token_type = pick(
        "lm_type",
        say("layer_mixing.token_type"),
        types,
        default=_ALL,
        format=token_type_name,
    )
    _curves(token_type, _pick_scopes())
    _table(pooled[pooled["token_type"] == token_type], token_type)
    beside(*pooled_ratios(pooled), key="lm_published_pooled", title=say("published.title_ratio"))
    _map(types)
    about(mixing_ratio.TABLE)


def _finding(pooled: pd.DataFrame) -> str:
    """What is left of the context once the residual and the rest of the layer are counted in."""
    order = layer_order()
    means = zip(pooled["scope"], pooled["mean"], strict=True)
    told = {scope: percent(mean) for scope, mean in means}
    return say(
        "layer_mixing.ratio.finding",
        weights=told["attn_w"],
        weights_residual=told[WEIGHTS_WITH_RESIDUAL],
        name=scope_name(WEIGHTS_WITH_RESIDUAL),
        vectors=told[order.vectors],
        residual=told[order.scopes[2]],
        normed=told[order.before_network],
        network=told[order.network],
        whole=told[order.whole],
    )


def _pick_scopes() -> tuple[str, ...]:
    """All scopes, or those with a residual, which are told apart only without the others."""
    order = layer_order()
    span = pick(
        "lm_span",
        say("layer_mixing.ratio.span"),
        _SPANS,
        default="all",
        format=lambda each: say(f"layer_mixing.ratio.span_{each}"),
    )
    with_residual = (WEIGHTS_WITH_RESIDUAL, *order.scopes[2:])
    return order.of_ratios if span == "all" else with_residual


def _curves(token_type: str, scopes: tuple[str, ...]) -> None:
    """One line per scope, layer by layer."""
    parts = [ask(mixing_ratio.by_layer, scope=scope).assign(scope=scope) for scope in scopes]
    frame = pd.concat(parts, ignore_index=True)
    frame = frame[frame["token_type"] == token_type]
    chart = lines(
        frame.assign(name=frame["scope"].map(scope_name)),
        x="layer",
        y="mean",
        colour="name",
        low="low",
        high="high",
        x_title=say("axis.layer"),
        y_title=say("layer_mixing.ratio.axis"),
        colour_title=" ",
        colours={scope_name(each): SCOPE_COLOURS[each] for each in layer_order().of_ratios},
        height=360,
    )
    question = say("layer_mixing.ratio.curves", type=token_type_name(token_type))
    figure(
        chart,
        key=f"lm_ratio_{token_type}_{len(scopes)}",
        question=question,
        caption=say(
            "layer_mixing.ratio.curves_caption",
            vectors=scope_name(layer_order().vectors),
            residual=scope_name(layer_order().scopes[2]),
            weights_residual=scope_name(WEIGHTS_WITH_RESIDUAL),
        ),
        frame=frame,
        alt=question,
    )


def _map(types: list[str]) -> None:
    """One scope, layer by token type."""
    scope = pick(
        "lm_scope",
        say("layer_mixing.pick_scope"),
        layer_order().of_ratios,
        default=layer_order().whole,
        format=scope_name,
    )
    frame = ask(mixing_ratio.by_layer, scope=scope)
    question = say("layer_mixing.ratio.map", scope=scope_name(scope))
    chart = number_map(
        frame.assign(type=frame["token_type"].map(token_type_name)),
        x="layer",
        y="type",
        value="mean",
        titles={
            "type": say("layer_mixing.token_type"),
            "layer": say("axis.layer"),
            "mean": say("layer_mixing.ratio.axis"),
            "low": say("layer_mixing.low"),
            "high": say("layer_mixing.high"),
            "min": say("layer_mixing.ratio.min"),
            "max": say("layer_mixing.ratio.max"),
            "n": say("layer_mixing.tokens"),
        },
        orders={
            "layer": sorted(frame["layer"].unique()),
            "type": [token_type_name(each) for each in types],
        },
        colours=Ramp(LOW_TO_HIGH, 0.0, _top(frame["mean"])),
        format=".2f",
    )
    figure(
        chart,
        key=f"lm_ratio_map_{scope}",
        question=question,
        caption=say("layer_mixing.ratio.map_caption"),
        frame=frame,
        alt=question,
    )
    beside(
        *layer_ratios(frame, scope),
        key=f"lm_published_{scope}",
        title=say("published.title_ratio_layers", scope=scope_name(scope)),
    )


def _top(means: pd.Series) -> float:
    """The next tenth above every mean, where the scale ends."""
    return min(1.0, int(float(means.max()) * 10 + 1) / 10)


def _table(pooled: pd.DataFrame, token_type: str) -> None:
    number = st.column_config.NumberColumn
    told = {name: number(say(f"layer_mixing.ratio.{name}"), format="%.3f") for name in _STATISTICS}
    table(
        pooled.assign(name=pooled["scope"].map(scope_name)),
        key=f"lm_ratio_table_{token_type}",
        question=say("layer_mixing.ratio.table", type=token_type_name(token_type)),
        caption=say("layer_mixing.ratio.table_caption"),
        columns={
            "name": say("layer_mixing.scope"),
            **told,
            "n": number(say("layer_mixing.ratio.n"), format="localized"),
        },
        placeholder="—",
    )
