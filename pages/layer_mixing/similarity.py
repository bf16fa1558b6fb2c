"""How alike the scopes see the mixing, and which module changes it (figure 3)."""

import pandas as pd
import streamlit as st

from analysis.tables.mixing import scope_similarity, sequence_scope_similarity
from pages.layer_mixing.least_similar import least_similar
from pages.layer_mixing.published import similarities
from pages.ui.about import about
from pages.ui.charts.colours import LOW_TO_HIGH, SCOPE_COLOURS
from pages.ui.charts.number_map import CELL, Ramp, number_map
from pages.ui.charts.standard import lines
from pages.ui.choices.clicks import clickable, fresh_click
from pages.ui.choices.pick import choose, pick
from pages.ui.figure import figure, table
from pages.ui.published import beside
from pages.ui.store.chosen import ask, layer_order, open_store, require
from pages.ui.words.names import scope_name, step_name
from pages.ui.words.numbers import signed
from pages.ui.words.say import say

_CHART = "lm_similarity"
_FIELDS = ("scope_a", "scope_b")
_SAME = 0.005  # modules that differ by less are told as one


def show() -> None:
    require(scope_similarity.TABLE, sequence_scope_similarity.TABLE)
    _follow_click()
    st.header(say("layer_mixing.similarity.title"), anchor=False)
    steps = ask(scope_similarity.steps)
    st.markdown(_finding(steps))
    layer = _pick_layer()
    matrix = st.container()
    scopes = least_similar(layer)
    with matrix:
        _matrix(layer, scopes)
    _steps(steps)
    _table(steps)
    beside(*similarities(steps), key="lm_published", title=say("published.title_similarity"))
    about(scope_similarity.TABLE, sequence_scope_similarity.TABLE)


def _follow_click() -> None:
    """Compare the two scopes whose cell was clicked, before their pickers are drawn."""
    for cell in fresh_click(_CHART).get(CELL, [])[:1]:
        if cell["scope_a"] != cell["scope_b"]:
            for name in _FIELDS:
                choose(f"lm_{name}", cell[name])


def _pick_layer() -> int | None:
    """One layer, or None for the mean over them."""
    layers = [str(each) for each in range(1, int(open_store().run["n_layers"]) + 1)]
    named = {"mean": say("layer_mixing.mean_of_layers")} | {each: each for each in layers}
    chosen = pick(
        "lm_layer",
        say("layer_mixing.layer"),
        list(named),
        default="mean",
        format=named.__getitem__,
        kind="pills",
    )
    return None if chosen == "mean" else int(chosen)


def _finding(steps: pd.DataFrame) -> str:
    """Which module changes the mixing most on average over the layers, and which least."""
    order = layer_order()
    modules = order.scopes[2:]  # what follows the attention weights and their vectors
    mean = steps[steps["layer"].isna() & steps["scope_b"].isin(modules)]
    mean = mean.dropna(subset="spearman").sort_values("spearman")
    if mean.empty:
        return say("layer_mixing.nothing_varies")
    most, least = mean.iloc[0], mean.iloc[-1]
    of_most = steps[steps["layer"].notna() & (steps["scope_b"] == most["scope_b"])]
    deepest = of_most.nsmallest(1, "spearman").iloc[0]
    close = least["spearman"] - most["spearman"] < _SAME
    sentence = say(
        f"layer_mixing.similarity.finding_{'alike' if close else 'differ'}",
        most=step_name(most["scope_b"]),
        of_most=_rho(most["spearman"]),
        least=step_name(least["scope_b"]),
        of_least=_rho(least["spearman"]),
        layer=f"{deepest['layer']:.0f}",
        deepest=_rho(deepest["spearman"]),
    )
    network = mean.iloc[1:-1][mean["scope_b"].iloc[1:-1] == order.network]
    if close or network.empty:
        return sentence
    of_network = _rho(network["spearman"].iloc[0])
    network_told = say("layer_mixing.similarity.finding_network", of_network=of_network)
    return f"{sentence} {network_told}"


def _rho(value: float) -> str:
    """Three decimals where two would round to 1."""
    return f"{value:.3f}" if 0.995 <= value < 1 else signed(value)


def _matrix(layer: int | None, scopes: tuple[str, str]) -> None:
    frame = ask(scope_similarity.matrix, layer=layer)
    if frame.empty:
        st.info(say("layer_mixing.nothing_varies"))
        return
    shown = frame.assign(
        one=frame["scope_a"].map(scope_name), other=frame["scope_b"].map(scope_name)
    )
    names = [scope_name(each) for each in layer_order().scopes if each in set(frame["scope_a"])]
    lowest = float(frame["spearman"].min())
    chart = number_map(
        shown,
        x="other",
        y="one",
        value="spearman",
        titles={
            "one": say("layer_mixing.scope"),
            "other": say("layer_mixing.other_scope"),
            "spearman": say("layer_mixing.rho"),
            "low": say("layer_mixing.low"),
            "high": say("layer_mixing.high"),
        },
        orders={"one": names, "other": names},
        colours=Ramp(LOW_TO_HIGH, min(int(lowest * 10 - 1) / 10, 0.9), 1.0),
        format=".2f",
        fields=_FIELDS,
        marked=dict(zip(_FIELDS, scopes, strict=True)),
    )
    where = _where(layer)
    clickable(
        chart,
        _CHART,
        key=f"lm_similarity_{layer or 'mean'}_{'_'.join(scopes)}",
        question=say("layer_mixing.similarity.question", where=where),
        caption=say("layer_mixing.similarity.caption"),
        frame=frame,
    )


def _where(layer: int | None) -> str:
    if layer is None:
        return say("layer_mixing.mean_of_layers")
    return say("layer_mixing.in_layer", layer=layer)


def _steps(steps: pd.DataFrame) -> None:
    """Similarity before and after every module, layer by layer."""
    frame = steps.dropna(subset=["layer", "spearman"]).astype({"layer": "int64"})
    if frame.empty:
        return
    chart = lines(
        frame.assign(step=frame["scope_b"].map(step_name)),
        x="layer",
        y="spearman",
        colour="step",
        low="low",
        high="high",
        x_title=say("axis.layer"),
        y_title=say("layer_mixing.similarity.axis"),
        colour_title=" ",
        colours={step_name(each): SCOPE_COLOURS[each] for each in layer_order().scopes[1:]},
        zero=False,
        height=400,
    )
    figure(
        chart,
        key="lm_steps",
        question=say("layer_mixing.similarity.steps"),
        caption=say("layer_mixing.similarity.steps_caption"),
        frame=frame,
        alt=say("layer_mixing.similarity.steps"),
    )


def _table(steps: pd.DataFrame) -> None:
    """Each step on average over the layers, and the layer that it changes most."""
    mean = steps[steps["layer"].isna()].drop(columns="layer").dropna(subset="spearman")
    each = steps.dropna(subset=["layer", "spearman"])
    if mean.empty or each.empty:
        return
    lowest = each.loc[each.groupby("scope_b")["spearman"].idxmin(), ["scope_b", "layer"]]
    frame = mean.merge(lowest, on="scope_b", how="left")
    number = st.column_config.NumberColumn
    table(
        frame.assign(step=frame["scope_b"].map(step_name)),
        key="lm_steps_table",
        question=say("layer_mixing.similarity.table"),
        caption=say("layer_mixing.similarity.table_caption"),
        columns={
            "step": say("layer_mixing.similarity.step"),
            "spearman": number(say("layer_mixing.rho"), format="%.3f"),
            "low": number(say("layer_mixing.low"), format="%.3f"),
            "high": number(say("layer_mixing.high"), format="%.3f"),
            "layer": number(say("layer_mixing.similarity.lowest_layer"), format="%d"),
        },
        placeholder="—",
    )
