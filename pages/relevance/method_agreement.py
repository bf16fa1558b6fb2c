"""Whether rules and methods call the same tokens relevant."""

import pandas as pd
import streamlit as st

from analysis.tables.relevance import relevance_agreement
from pages.relevance.rules import in_order, rule_name, rule_short
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.figure import figure
from pages.ui.store.chosen import ask, shows_images
from pages.ui.words.numbers import signed
from pages.ui.words.say import say

_HARDLY = 1e-6  # the width of a scale where all agree


def agreement() -> None:
    """The matrix of rank correlations with its sentence."""
    found = ask(relevance_agreement.agreement)
    shown = found.assign(one=found["rule_a"].map(rule_name), other=found["rule_b"].map(rule_short))
    order = in_order(list(found["rule_a"].unique()))
    names = {"one": rule_name, "other": rule_short}
    st.header(say("relevance_methods.agreement"), anchor=False)
    st.markdown(_finding(shown))
    low = float(shown["mean"].min())
    question = say("relevance_methods.question_agreement")
    figure(
        number_map(
            shown,
            x="other",
            y="one",
            value="mean",
            titles={
                "one": say("relevance_methods.one"),
                "other": say("relevance_methods.other"),
                "mean": "ρ",
                "low": say("relevance_corpus.low"),
                "high": say("relevance_corpus.high"),
                "n_sequences": say("relevance_corpus.n_sequences"),
            },
            orders={side: [name(each) for each in order] for side, name in names.items()},
            colours=Ramp(LOW_TO_HIGH, min(low, 1.0 - _HARDLY), 1.0),
            format=".2f",
        ),
        key="re_agreement",
        question=question,
        caption=say(f"relevance_methods.caption_agreement_{_kind()}"),
        frame=shown,
        alt=question,
    )


def _kind() -> str:
    return "images" if shows_images() else "text"


def _finding(pairs: pd.DataFrame) -> str:
    """Those that agree least and most; a rule and the same one on mean weights are no finding."""
    of_one = pairs["rule_a"].map(_bare) == pairs["rule_b"].map(_bare)
    others = pairs[~of_one & (pairs["rule_a"] < pairs["rule_b"])].sort_values("mean")
    if others.empty:
        return say("relevance_methods.agreement_alone")
    least, most = others.to_dict("records")[0], others.to_dict("records")[-1]
    return say(
        "relevance_methods.finding_agreement",
        least_a=least["one"],
        least_b=rule_name(least["rule_b"]),
        least=_told(least),
        most_a=most["one"],
        most_b=rule_name(most["rule_b"]),
        most=_told(most),
    )


def _bare(rule: str) -> str:
    return rule.removesuffix("_mean_weights")


def _told(row: dict) -> str:
    return f"{signed(row['mean'])} [{signed(row['low'])}, {signed(row['high'])}]"
