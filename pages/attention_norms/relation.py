"""How attention weight and norm go together, token type by token type (figure 3, table 3)."""

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.norms import attention_norm_correlation as correlation
from analysis.tables.norms import attention_norm_histogram, attention_norm_sample
from pages.attention_norms.opened_head import most_drawn, pick_norms_head
from pages.attention_norms.panels import density_panels, sample_panels
from pages.attention_norms.published import correlations
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import choose
from pages.ui.head.choice import follow_head_click
from pages.ui.page import section
from pages.ui.store.chosen import ask, layers
from pages.ui.view import View
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import count, signed
from pages.ui.words.quantities import in_type_order, ordered_types

_SAMPLED = 1_500
_WEAK = -0.1  # a ρ above is no tendency worth mentioning
Scope = dict[str, int | None]


@section(
    "relation",
    correlation.TABLE,
    attention_norm_histogram.TABLE,
    also=(attention_norm_sample.TABLE,),
)
def relation(view: View) -> None:
    if follow_head_click(view.key("heads")):
        choose(view.key("scope"), "head")
    scope = _pick_scope(view)
    rho = ask(correlation.by_type, **scope)
    view.finding(_finding(view, rho))
    marks = view.pick("marks", ["density", "sample"])
    if marks == "density":
        frame = ask(attention_norm_histogram.densities, **scope)
        chart = density_panels(frame)
    else:
        frame = ask(attention_norm_sample.scatter, limit=_SAMPLED, **scope)
        chart = sample_panels(frame)
    view.figure("pairs", frame, chart, state=marks, caption=view.say(f"caption_{marks}"))
    pairs = in_type_order(rho).rename(columns={"n": "pairs"})
    view.table("table", pairs, ["token_type", "pairs", "spearman"])
    if scope["layer"] is None:
        view.beside("rho", *correlations(rho))
    frame = ask(correlation.by_layer).dropna(subset="spearman")
    if len(frame):
        view.figure(
            "layers", frame, lines(frame, x="layer", y="spearman", colour="token_type", level=0.0)
        )
    _map(view, scope)


def _pick_scope(view: View) -> Scope:
    """All heads, the heads of one layer, or one head."""
    layer = head = None
    chosen = view.pick(
        "scope", ["all", "layer", "head"], format=lambda each: view.say(f"scope_{each}")
    )
    if chosen == "layer":
        layer = view.pick("layer", layers(), default=most_drawn()[0], kind="select")
    elif chosen == "head":
        layer, head = pick_norms_head(view)
    return {"layer": layer, "head": head}


def _finding(view: View, rho: pd.DataFrame) -> str:
    """The type for which weight and norm pull most against each other, if there is one."""
    known = rho.dropna(subset="spearman")
    if known.empty:
        return view.say("nothing_varies")
    lowest = known.nsmallest(1, "spearman").iloc[0]
    return view.say(
        f"finding_{'against' if lowest['spearman'] < _WEAK else 'nowhere'}",
        type=token_type_name(lowest["token_type"]),
        rho=signed(lowest["spearman"]),
        n=count(lowest["n"]),
    )


def _map(view: View, scope: Scope) -> None:
    """ρ of every head for one type; a click opens the head."""
    types = ordered_types(ask(correlation.by_type, layer=None, head=None)["token_type"])
    token_type = view.pick("type", types, of="token_type")
    of_types = {each: ask(correlation.by_head, token_type=each) for each in types}
    frame = of_types[token_type]
    if frame["spearman"].isna().all():
        st.info(view.say("nothing_varies"))
        return
    widest = max(0.1, float(pd.concat(of_types.values())["spearman"].abs().max()))
    layer, head = scope["layer"], scope["head"]
    chart = head_map(
        frame,
        "spearman",
        scale=alt.Scale(scheme="redblue", domain=[-widest, widest]),
        format="+.3f",
        marked=(layer, head) if layer and head else None,
    )
    state, name = (token_type, layer, head), token_type_name(token_type)
    view.figure("heads", frame, chart, state=state, click=True, type=name)
