"""The paper's claim over all heads: does the phase shift of queries and keys tell where attention
leans?"""

import pandas as pd
import streamlit as st

from analysis.tables.positions import head_offset, offset_agreement
from analysis.tables.positions.head_offset import REACH
from analysis.tables.positions.offset_agreement import MIN_DEPENDENCES
from pages.positions.agreement_chart import agreement_chart
from pages.positions.head_choice import follow_click, head_row
from pages.positions.offset_map import offset_map
from pages.positions.published import heads_beside
from pages.ui.about import about
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask, require
from pages.ui.words.numbers import percent, signed
from pages.ui.words.offsets import (
    heads_between,
    heads_compared,
    is_causal,
    offset_told,
    pick_counting,
    told_at_zero,
)
from pages.ui.words.say import say

_MAP = "po_offsets"
_LEAST = tuple(f"{each:g}" for each in MIN_DEPENDENCES)  # as the address writes them


def show() -> None:
    require(head_offset.TABLE, offset_agreement.TABLE)
    follow_click(_MAP)
    st.header(say("positions_head.claim.title"), anchor=False)
    st.markdown(say("positions_head.claim.meaning"))
    left, right = st.columns(2)
    with left:
        least = _pick_least()
    with right:
        counting = pick_counting()
    heads = heads_compared(counting)
    heads = heads[heads["dependence"] >= least]
    if heads.empty:
        st.info(say("positions_head.claim.none", least=f"{least:g}"))
        return
    agreement = ask(offset_agreement.agreement, counting=counting, min_dependence=least)
    st.markdown(_finding(agreement, heads))
    st.markdown(_disagreement(heads))
    if is_causal():
        st.markdown(say("positions_head.causal"))
    _map(heads, counting, least)
    _layers(agreement, counting, least)
    _table(heads, counting)
    heads_beside()
    about(offset_agreement.TABLE, head_offset.TABLE)


def _pick_least() -> float:
    """How much of a head's attention positions must explain for the head to count."""
    chosen = pick(
        "po_least",
        say("positions_head.claim.least"),
        _LEAST,
        default="0",
        format=lambda each: say("positions_head.claim.all") if each == "0" else f"η² ≥ {each}",
        kind="pills",
        help=say("positions_head.claim.least_help"),
    )
    return float(chosen)


def _finding(agreement: pd.DataFrame, heads: pd.DataFrame) -> str:
    """How many heads agree, how many would by chance, and the rank correlation."""
    over_all = agreement[agreement["layer"].isna()]
    if over_all.empty:
        return say("positions_head.claim.too_few")
    row = over_all.iloc[0]
    sentences = [
        say(
            "positions_head.claim.finding",
            same=round(row["agreement"] * row["n_heads"]),
            n=int(row["n_heads"]),
            share=percent(row["agreement"]),
            between=heads_between(row),
            chance=percent(row["chance"]),
        )
    ]
    if pd.isna(row["spearman"]):
        sentences.append(say("positions_head.claim.no_spearman"))
    else:
        sentences.append(_spearman(row))
    verdict = "more" if row["agreement_low"] > row["chance"] else "no_more"
    sentences.append(say(f"positions_head.claim.verdict_{verdict}"))
    return " ".join([*sentences, told_at_zero(heads)]).strip()


def _spearman(row: pd.Series) -> str:
    low, high = row["spearman_low"], row["spearman_high"]
    between = "" if pd.isna(low) or pd.isna(high) else f" [{signed(low)}, {signed(high)}]"
    return say("positions_head.claim.spearman", rho=f"{signed(row['spearman'])}{between}")


def _disagreement(heads: pd.DataFrame) -> str:
    """Which heads the claim does not hold of, and how it fails."""
    wrong = heads[~heads["agree"]]
    if wrong.empty:
        return say("positions_head.claim.all_agree")
    most = wrong.groupby(["score", "attention"]).size().reset_index(name="n").nlargest(1, "n")
    cell, head = most.iloc[0], wrong.nlargest(1, "dependence").iloc[0]
    side = (wrong["score"] * wrong["attention"] > 0).sum()
    return say(
        "positions_head.claim.disagreement",
        n=len(wrong),
        side=int(side),
        edge=int((wrong["score"].abs() == REACH).sum()),
        many=int(cell["n"]),
        many_score=offset_told(cell["score"]),
        many_attention=offset_told(cell["attention"]),
        head=head_name(int(head["layer"]), int(head["head"])),
        dependence=f"{head['dependence']:.2f}",
        score=offset_told(head["score"]),
        attention=offset_told(head["attention"]),
    )


def _map(heads: pd.DataFrame, counting: str, least: float) -> None:
    """All heads by their two offsets, and the way to the one that was clicked."""
    place = st.container()
    layer, head = head_row()
    with place:
        clickable(
            offset_map(heads, marked=(layer, head)),
            _MAP,
            key=f"po_offsets_{counting}_{least:g}_{layer}_{head}",
            question=say("positions_head.claim.map"),
            caption=say(f"positions_head.claim.map_caption_{counting}"),
            frame=heads,
        )


def _layers(agreement: pd.DataFrame, counting: str, least: float) -> None:
    layers = agreement.dropna(subset=["layer", "agreement"]).astype({"layer": "int64"})
    if layers.empty:
        return
    question = say("positions_head.claim.layers")
    figure(
        agreement_chart(layers),
        key=f"po_agreement_{counting}_{least:g}",
        question=question,
        caption=say("positions_head.claim.layers_caption"),
        frame=layers,
        alt=question,
    )


def _table(heads: pd.DataFrame, counting: str) -> None:
    number = st.column_config.NumberColumn
    table(
        heads.sort_values("dependence", ascending=False),
        key=f"po_heads_table_{counting}",
        question=say("positions_head.claim.table"),
        caption=say("positions_head.claim.table_caption"),
        columns={
            "layer": number(say("axis.layer")),
            "head": number(say("axis.head")),
            "dependence": number("η²", help=say("positions_head.dependence"), format="%.3f"),
            "score": number(say("positions_head.claim.score"), format="%d"),
            "attention": number(say("positions_head.claim.attention"), format="%d"),
            "distance": number(say("positions_head.claim.distance")),
            "agree": st.column_config.CheckboxColumn(say("positions_head.claim.agree")),
        },
        placeholder="—",
    )
