"""Where relevance falls over a whole corpus, by rule, layer and head."""

import numpy as np
import pandas as pd
import streamlit as st

from analysis.tables.relevance import relevance_map, relevance_summary, sequence_relevance
from pages.relevance.layer_lines import layer_lines
from pages.relevance.quantities import (
    CHANCE,
    QUANTITIES,
    axis_format,
    number_format,
    quantity_axis,
    quantity_meaning,
    quantity_name,
    told,
    told_interval,
)
from pages.relevance.rules import in_order, pick_rules, rule_meaning, rule_name
from pages.relevance.summary_heads import follow_click, heads_and_extremes
from pages.ui.about import about
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, require, shows_images
from pages.ui.words.numbers import count, scientific
from pages.ui.words.say import say


def show() -> None:
    require(relevance_summary.TABLE, sequence_relevance.TABLE)
    follow_click()
    st.header(say("relevance_corpus.title"), anchor=False)
    long = ask(relevance_summary.table)
    present = _present(long)
    quantity = pick(
        "re_quantity",
        say("relevance_corpus.quantity"),
        present,
        default=present[0],
        format=quantity_name,
        kind="pills",
    )
    st.caption(quantity_meaning(quantity))
    of_quantity = long[long["quantity"] == quantity]
    means = of_quantity[of_quantity["head"].isna()].drop(columns="head")
    chosen = pick_rules("re_rules", in_order(list(means["rule"].unique())))
    shown = means[means["rule"].isin(chosen)]
    st.markdown(_finding(shown, quantity))
    _layers(shown, chosen, quantity)
    _rules(chosen)
    heads_and_extremes(of_quantity[of_quantity["head"].notna()], quantity)
    _table(of_quantity, quantity)
    st.caption(_conservation())
    about(relevance_summary.TABLE, sequence_relevance.TABLE, relevance_map.TABLE)


def _present(long: pd.DataFrame) -> list[str]:
    """The quantities there are; special tokens only where there are more of them than [CLS]."""
    values = {each: long.loc[long["quantity"] == each, "mean"].to_numpy() for each in QUANTITIES}
    same = np.array_equal(values["cls_share"], values["special_share"])
    empty = same or not values["special_share"].any()
    return [
        each for each in QUANTITIES if len(values[each]) and not (each == "special_share" and empty)
    ]


def _chance(quantity: str) -> float | None:
    """What an even map would have; None where that is not known."""
    if quantity == "evenness":
        return 1.0
    if quantity not in CHANCE:
        return 0.0 if quantity in CHANCE.values() else None
    long = ask(relevance_summary.table)
    share, gain = (long[long["quantity"] == each] for each in (quantity, CHANCE[quantity]))
    of_all = share["n_sequences"] == share["n_sequences"].max()  # some methods skip sequences
    return float(share.loc[of_all, "mean"].mean() - gain.loc[of_all.to_numpy(), "mean"].mean())


def _finding(means: pd.DataFrame, quantity: str) -> str:
    """Which rule has most and which least from the last layer, and which have more than chance."""
    last = means[means["layer"] == means["layer"].max()].sort_values("mean", ascending=False)
    most, least = last.to_dict("records")[0], last.to_dict("records")[-1]
    layer = int(most["layer"])
    sentence = say(
        f"relevance_corpus.finding_{'one' if len(last) == 1 else 'many'}",
        layer=layer,
        quantity=quantity_name(quantity),
        most=rule_name(most["rule"]),
        of_most=told_interval(quantity, most),
        least=rule_name(least["rule"]),
        of_least=told_interval(quantity, least),
    )
    chance = _chance(quantity)
    if quantity not in CHANCE or chance is None:
        return sentence
    gains = ask(relevance_summary.by_layer, quantity=CHANCE[quantity])
    of_last = gains[(gains["layer"] == layer) & gains["rule"].isin(means["rule"])]
    above = [rule_name(each) for each in of_last[of_last["low"] > 0]["rule"]]
    against = say(
        f"relevance_corpus.finding_{'above' if above else 'not_above'}",
        chance=told(quantity, chance),
        rules=say("list.comma").join(above),
    )
    return f"{sentence} {against}"


def _layers(means: pd.DataFrame, chosen: list[str], quantity: str) -> None:
    frame = means.assign(name=means["rule"].map(rule_name))
    chance = _chance(quantity)
    reference = None if chance is None else (say("relevance_corpus.even_map"), chance)
    question = say("relevance_corpus.question", quantity=quantity_name(quantity))
    figure(
        layer_lines(
            frame,
            rules=chosen,
            y_title=quantity_axis(quantity),
            format=number_format(quantity),
            y_format=axis_format(quantity),
            reference=reference,
        ),
        key=f"re_layers_{quantity}",
        question=question,
        caption=say(f"relevance_corpus.caption_{'images' if shows_images() else 'text'}"),
        frame=frame,
        alt=question,
    )


def _rules(chosen: list[str]) -> None:
    """What the drawn rules are, folded away."""
    with st.expander(say("relevance_corpus.what_rules")):
        lines = (f"- **{rule_name(each)}**: {rule_meaning(each)}" for each in chosen)
        st.markdown("\n".join(lines))


def _table(frame: pd.DataFrame, quantity: str) -> None:
    """Every number of the quantity, to be sorted, searched and taken away."""
    number = st.column_config.NumberColumn
    format = "%.4f"
    first = frame.sort_values("head", key=lambda heads: heads.notna(), kind="stable")
    table(
        first.assign(name=first["rule"].map(rule_name)),
        key=f"re_table_{quantity}",
        question=say("relevance_corpus.table", quantity=quantity_name(quantity)),
        caption=say("relevance_corpus.table_caption"),
        columns={
            "name": say("relevance_corpus.rule"),
            "layer": number(say("relevance_corpus.start"), format="%d"),
            "head": number(say("axis.head"), format="%d"),
            "mean": number(quantity_axis(quantity), format=format),
            "low": number(say("relevance_corpus.low"), format=format),
            "high": number(say("relevance_corpus.high"), format=format),
            "n_sequences": number(say("relevance_corpus.n_sequences"), format="%d"),
        },
        height=320,
        placeholder="—",
    )


def _conservation() -> str:
    """How well nothing is lost or made on the way down."""
    worst, in_place = ask(sequence_relevance.conservation).iloc[0]
    key = "relevance_corpus.conserved"
    told_place = say(f"{key}_in_place", n=count(in_place)) if in_place else say(f"{key}_all")
    return say(key, worst=scientific(float(worst)), in_place=told_place)
