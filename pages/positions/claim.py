"""The paper's claim over all heads: does the phase shift of queries and keys predict where
attention leans?"""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.published.positions import SHIFT
from analysis.tables.positions import head_offset, offset_agreement, query_key_phase
from analysis.tables.positions.head_offset import REACH
from analysis.tables.positions.offset_agreement import COUNTINGS, MIN_DEPENDENCES
from pages.positions.offset_map import offset_map
from pages.positions.offsets import agreement_at_zero, head_row, heads_between, heads_compared
from pages.positions.published import of_heads
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import column_tooltips, flat_axis
from pages.ui.head.choice import follow_head_click, head_name
from pages.ui.page import section
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import with_interval
from pages.ui.words.numbers import percent
from pages.ui.words.offsets import offset_told
from pages.ui.words.place import said

_LEAST = tuple(f"{each:g}" for each in MIN_DEPENDENCES)  # as the address writes them


@section("claim", offset_agreement.TABLE, head_offset.TABLE)
def claim(view: View) -> None:
    follow_head_click(view.key("map"))
    left, right = st.columns(2)
    with left:
        least = float(view.pick("least", _LEAST))
    with right:
        counting = view.pick("counting", list(COUNTINGS))
    heads = heads_compared(counting)
    heads = heads[heads["dependence"] >= least]
    if heads.empty:
        st.info(view.say("none", least=f"{least:g}"))
        return
    agreement = ask(offset_agreement.agreement, counting=counting, min_dependence=least)
    view.finding(_finding(view, agreement, heads))
    view.finding(_disagreement(view, heads))
    if is_causal():
        view.finding(view.say("causal"))
    place, (layer, head) = st.container(), head_row(view)
    choices = f"{counting}_{least:g}"
    with place:
        view.figure(
            "map",
            heads,
            offset_map(heads, marked=(layer, head)),
            state=f"{choices}_{layer}_{head}",
            click=True,
            caption=view.say(f"map_caption_{counting}"),
        )
    layers = agreement.dropna(subset=["layer", "agreement"]).astype({"layer": "int64"})
    if len(layers):
        view.figure("layers", layers, agreement_chart(layers), state=choices)
    columns = ["layer", "head", "dependence", "score", "attention", "distance", "agree"]
    most_dependent_first = heads.sort_values("dependence", ascending=False)
    view.table("table", most_dependent_first, columns, state=counting)
    shown = ask(query_key_phase.of_head, layer=SHIFT.layer, head=SHIFT.head)
    view.beside("heads", *of_heads(ask(head_offset.heads), shown))


def _finding(view: View, agreement: pd.DataFrame, heads: pd.DataFrame) -> str:
    """How many heads agree, how many would by chance, and the rank correlation."""
    over_all = agreement[agreement["layer"].isna()]
    if over_all.empty:
        return view.say("too_few")
    row = over_all.iloc[0]
    finding = view.say(
        "finding",
        same=round(row["agreement"] * row["n_heads"]),
        n=int(row["n_heads"]),
        share=percent(row["agreement"]),
        between=heads_between(row),
        chance=percent(row["chance"]),
    )
    verdict = "more" if row["agreement_low"] > row["chance"] else "no_more"
    sentences = [finding, _spearman(view, row), view.say(f"verdict_{verdict}")]
    return " ".join([*sentences, agreement_at_zero(heads)]).strip()


def _spearman(view: View, row: pd.Series) -> str:
    if pd.isna(row["spearman"]):
        return view.say("no_spearman")
    rho = with_interval(*row[["spearman", "spearman_low", "spearman_high"]])
    return view.say("spearman", rho=rho)


def _disagreement(view: View, heads: pd.DataFrame) -> str:
    """Which heads the claim does not hold of, and how it fails."""
    wrong = heads[~heads["agree"]]
    if wrong.empty:
        return view.say("all_agree")
    most = wrong.groupby(["score", "attention"]).size().reset_index(name="n").nlargest(1, "n")
    cell, head = most.iloc[0], wrong.nlargest(1, "dependence").iloc[0]
    return view.say(
        "disagreement",
        n=len(wrong),
        side=int((wrong["score"] * wrong["attention"] > 0).sum()),
        edge=int((wrong["score"].abs() == REACH).sum()),
        many=int(cell["n"]),
        many_score=offset_told(cell["score"]),
        many_attention=offset_told(cell["attention"]),
        head=head_name(int(head["layer"]), int(head["head"])),
        dependence=f"{head['dependence']:.2f}",
        score=offset_told(head["score"]),
        attention=offset_told(head["attention"]),
    )


def agreement_chart(layers: pd.DataFrame) -> Any:
    """How many heads of each layer agree, with the interval, and a mark for chance.

    Args:
        layers: rows layer, n_heads, agreement, agreement_low, agreement_high, chance.
    """
    names = {each: title(each) for each in ("agreement", "chance")}
    shown = layers.assign(**{f"of_{each}": name for each, name in names.items()})
    shares = dict.fromkeys(("agreement", "agreement_low", "agreement_high", "chance"), ".0%")
    base = alt.Chart(shown).encode(
        x=alt.X("layer:O", title=title("layer"), axis=flat_axis()),
        tooltip=column_tooltips(shown, layer="d", n_heads="d", **shares),
    )
    height: dict[str, Any] = {
        "title": said("layers_axis"),
        "axis": alt.Axis(format="%", tickCount=5),
        "scale": alt.Scale(domain=[0, 1]),
    }
    scale = alt.Scale(domain=list(names.values()), range=list(SERIES_COLOURS[:2]))
    legend = alt.Legend(orient="top", symbolType="square", labelLimit=0)
    ours, chance = (
        alt.Color(f"of_{each}:N", title=" ", scale=scale, legend=legend) for each in names
    )
    interval = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("agreement_low:Q", **height), y2="agreement_high", color=ours
    )
    ticks = base.mark_tick(thickness=3, width=26, opacity=1)
    points = base.mark_circle(size=90, opacity=1)
    return alt.layer(
        interval,
        ticks.encode(y=alt.Y("chance:Q", **height), color=chance),
        points.encode(y=alt.Y("agreement:Q", **height), color=ours),
    ).properties(height=300)
