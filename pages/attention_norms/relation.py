"""How attention weight and norm go together, token type by token type (figure 3, table 3)."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.norms import (
    attention_norm_correlation,
    attention_norm_histogram,
    attention_norm_sample,
)
from pages.attention_norms.head_choice import follow_click, pick_layer, pick_norms_head
from pages.attention_norms.panels import density_panels, sample_panels
from pages.attention_norms.published import correlations
from pages.ui.about import about
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import lines
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import choose, pick
from pages.ui.figure import figure, table
from pages.ui.published import beside
from pages.ui.store.chosen import ask, require
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import count, signed
from pages.ui.words.quantities import in_type_order, ordered_types
from pages.ui.words.say import say

_CHART = "rho"
_SAMPLED = 1_500
_WEAK = -0.1  # a ρ above is no tendency worth telling
Scope = dict[str, int | None]


def show() -> None:
    require(attention_norm_correlation.TABLE, attention_norm_histogram.TABLE)
    if follow_click(_CHART):
        choose("an_scope", "head")
    st.header(say("attention_norms.relation.title"), anchor=False)
    scope = _pick_scope()
    rho = ask(attention_norm_correlation.by_type, **scope)
    st.markdown(_finding(rho))
    _pairs(scope)
    _table(rho)
    if scope["layer"] is None:
        beside(*correlations(rho), key="an_published_rho", title=say("published.title_rho"))
    _by_layer()
    _by_head(scope)
    about(
        attention_norm_correlation.TABLE,
        attention_norm_histogram.TABLE,
        attention_norm_sample.TABLE,
    )


def _pick_scope() -> Scope:
    """All heads, the heads of one layer, or one head."""
    chosen = pick(
        "an_scope",
        say("attention_norms.relation.scope"),
        ["all", "layer", "head"],
        default="all",
        format=lambda each: say(f"attention_norms.relation.scope_{each}"),
    )
    if chosen == "layer":
        return {"layer": pick_layer(), "head": None}
    if chosen == "head":
        layer, head = pick_norms_head()
        return {"layer": layer, "head": head}
    return {"layer": None, "head": None}


def _finding(rho: pd.DataFrame) -> str:
    """The type for which weight and norm pull most against each other, if there is one."""
    known = rho.dropna(subset="spearman")
    if known.empty:
        return say("attention_norms.relation.nothing_varies")
    lowest = known.nsmallest(1, "spearman").iloc[0]
    direction = "against" if lowest["spearman"] < _WEAK else "nowhere"
    return say(
        f"attention_norms.relation.finding_{direction}",
        type=token_type_name(lowest["token_type"]),
        rho=signed(lowest["spearman"]),
        n=count(lowest["n"]),
    )


def _pairs(scope: Scope) -> None:
    """Every pair of a weight and a norm as a density, or a fair sample of them as points."""
    marks = pick(
        "an_marks",
        say("attention_norms.relation.marks"),
        ["density", "sample"],
        default="density",
        format=lambda each: say(f"attention_norms.relation.marks_{each}"),
    )
    if marks == "density":
        frame = ask(attention_norm_histogram.densities, **scope)
        chart: Any = density_panels(frame)
    else:
        frame = ask(attention_norm_sample.scatter, limit=_SAMPLED, **scope)
        chart = sample_panels(frame)
    figure(
        chart,
        key=f"an_relation_{marks}",
        question=say("attention_norms.relation.question"),
        caption=say(f"attention_norms.relation.caption_{marks}"),
        frame=frame,
        alt=say("attention_norms.relation.question"),
    )


def _table(rho: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    table(
        in_type_order(rho).assign(token_type=lambda each: each["token_type"].map(token_type_name)),
        key="an_rho_table",
        question=say("attention_norms.relation.table"),
        caption=say("attention_norms.relation.table_caption"),
        columns={
            "token_type": say("attention_norms.token_type"),
            "n": number(say("attention_norms.pairs"), format="localized"),
            "spearman": number(say("attention_norms.rho"), format="%.3f"),
        },
        placeholder="—",
    )


def _by_layer() -> None:
    frame = ask(attention_norm_correlation.by_layer).dropna(subset="spearman")
    if frame.empty:
        return
    drawn = lines(
        frame,
        x="layer",
        y="spearman",
        colour="token_type",
        x_title=say("axis.layer"),
        y_title=say("attention_norms.rho"),
        colour_title=say("attention_norms.token_type"),
    )
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color="#808995").encode(y="zero:Q")
    figure(
        alt.layer(zero, drawn),
        key="an_rho_layers",
        question=say("attention_norms.relation.layers"),
        caption=say("attention_norms.relation.layers_caption"),
        frame=frame,
        alt=say("attention_norms.relation.layers"),
    )


def _by_head(scope: Scope) -> None:
    """ρ of every head for one type; a click opens the head."""
    pooled = ask(attention_norm_correlation.by_type, layer=None, head=None)
    types = ordered_types(pooled["token_type"])
    token_type = pick(
        "an_type",
        say("attention_norms.relation.type"),
        types,
        default=types[0],
        format=token_type_name,
    )
    of_type = {each: ask(attention_norm_correlation.by_head, token_type=each) for each in types}
    widest = max(0.1, float(pd.concat(of_type.values())["spearman"].abs().max()))
    _rho_map(of_type[token_type], token_type, widest, scope)


def _rho_map(frame: pd.DataFrame, token_type: str, widest: float, scope: Scope) -> None:
    if frame["spearman"].isna().all():
        st.info(say("attention_norms.relation.nothing_varies"))
        return
    layer, head = scope["layer"], scope["head"]
    question = say("attention_norms.relation.heads", type=token_type_name(token_type))
    chart = head_map(
        frame,
        "spearman",
        say("attention_norms.rho"),
        alt.Scale(scheme="redblue", domain=[-widest, widest]),
        format="+.3f",
        marked=(layer, head) if layer and head else None,
    )
    clickable(
        chart,
        _CHART,
        key=f"an_rho_{token_type}_{layer}_{head}",
        question=question,
        caption=say("attention_norms.relation.heads_caption"),
        frame=frame,
    )
