"""The best head against three simple rules (table 2), and whether it is as good elsewhere."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.norms.weighing import WEIGHT
from analysis.tables.probing import coreference_accuracy, coreference_best
from analysis.tables.probing.coreference_best import CHOSEN_ON
from analysis.tables.probing.coreference_prediction import BASELINES, MENTION_TYPES, METHODS
from pages.coreference.choices import (
    COLOURS,
    best_head,
    method_name,
    pick_antecedent_head,
    pick_merging,
    to_documents,
    type_name,
)
from pages.coreference.mentions import require_mentions
from pages.coreference.published import numbers_beside
from pages.coreference.rule_chart import rule_chart
from pages.ui.about import about
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask
from pages.ui.weighing import pick_weighing
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

_FEW = 100  # mentions below which a share is no more than an impression


def show() -> None:
    require_mentions(coreference_accuracy.TABLE, coreference_best.TABLE)
    st.header(say("coreference.rules.title"), anchor=False)
    st.markdown(say("coreference.rules.meaning"))
    weighing = pick_weighing("co")
    left, right = st.columns(2)
    with left:
        merging = pick_merging()
    with right:
        layer, head = pick_antecedent_head(best_head(merging, weighing))
    way = {"merging": merging, "weighing": weighing}
    best = {each: ask(coreference_best.best, chosen_on=each, **way) for each in CHOSEN_ON}
    st.markdown(_finding(best))
    found = ask(coreference_accuracy.of_head, layer=layer, head=head, **way)
    key = f"{merging}_{weighing}"
    _bars(found, layer, head, key)
    to_documents(layer, head)
    _honest(pd.concat([frame.assign(chosen_on=each) for each, frame in best.items()]), key)
    if weighing == WEIGHT:
        numbers_beside(found, layer, head)
    about(coreference_accuracy.TABLE, coreference_best.TABLE)


def _finding(best: dict[str, pd.DataFrame]) -> str:
    """The best head over all mentions, the rules, and the same on texts it was not chosen on."""
    of_all = {part: frame[frame["mention_type"] == "all"] for part, frame in best.items()}
    rows = of_all["all"].set_index("baseline")
    row = rows.iloc[0]
    told = say(
        "coreference.rules.finding",
        head=head_name(int(row["layer"]), int(row["head"])),
        n_tried=count(row["n_tried"]),
        n=count(row["n"]),
        accuracy=_between(row),
        **{name: percent(float(rows["baseline_accuracy"][name])) for name in BASELINES},
    )
    if row["n"] < _FEW:
        told += f" {say('coreference.rules.few', few=_FEW)}"
    halves = [of_all[part].set_index("baseline") for part in ("first", "second")]
    if any(half.empty for half in halves):
        return f"{told} {say('coreference.rules.too_few')}"
    against = [half[half.index == "sieve"].iloc[0] for half in halves]
    told_halves = {
        f"{name}_{part}": value
        for part, row in zip(("first", "second"), against, strict=True)
        for name, value in (
            ("head", head_name(int(row["layer"]), int(row["head"]))),
            ("accuracy", _between(row)),
            ("sieve", percent(row["baseline_accuracy"])),
        )
    }
    return " ".join((told, say("coreference.rules.honest", **told_halves), _verdict(against)))


def _between(row: pd.Series) -> str:
    return f"{percent(row['accuracy'])} [{percent(row['low'])}, {percent(row['high'])}]"


def _verdict(halves: list[pd.Series]) -> str:
    if all(half["difference_low"] > 0 for half in halves):
        return say("coreference.rules.verdict_more")
    if all(half["difference_high"] < 0 for half in halves):
        return say("coreference.rules.verdict_less")
    return say("coreference.rules.verdict_open")


def _bars(found: pd.DataFrame, layer: int, head: int, key: str) -> None:
    names = {method: method_name(method) for method in METHODS}
    names["head"] = head_name(layer, head)
    shown = found.assign(
        type=found["mention_type"].map(type_name), method=found["method"].map(names)
    )
    question = say("coreference.rules.bars", head=head_name(layer, head))
    figure(
        rule_chart(
            shown,
            colours={names[method]: COLOURS[method] for method in METHODS},
            types=list(dict.fromkeys(shown["type"])),
        ),
        key=f"co_rules_{key}_{layer}_{head}",
        question=question,
        caption=say("coreference.rules.bars_caption"),
        frame=found,
        alt=question,
    )


def _honest(best: pd.DataFrame, key: str) -> None:
    """Best heads where they were chosen and where they were not, next to one of the rules."""
    place = st.container()
    rule = pick(
        "co_rule",
        say("coreference.rules.rule"),
        BASELINES,
        default="sieve",
        format=method_name,
    )
    shown = best[best["baseline"] == rule]
    shown = shown.assign(
        type=shown["mention_type"].map(type_name),
        part=shown["chosen_on"].map(lambda each: say(f"coreference.rules.part_{each}")),
        name=[head_name(int(row["layer"]), int(row["head"])) for row in shown.to_dict("records")],
    )
    with place:
        table(
            shown.sort_values("mention_type", key=_in_order, kind="stable"),
            key=f"co_best_{key}_{rule}",
            question=say("coreference.rules.table"),
            caption=say("coreference.rules.table_caption"),
            columns=_columns(rule),
            height="content",
        )


def _in_order(types: pd.Series) -> pd.Series:
    return types.map({name: place for place, name in enumerate(MENTION_TYPES)})


def _columns(rule: str) -> dict[str, Any]:
    number = st.column_config.NumberColumn

    def share(title: str) -> Any:
        return number(title, format="percent", width="small")

    return {
        "type": say("coreference.kind"),
        "part": say("coreference.rules.part"),
        "name": say("coreference.rules.best"),
        "accuracy": share(say("coreference.rules.accuracy")),
        "low": share(say("coreference.low")),
        "high": share(say("coreference.high")),
        "baseline_accuracy": share(method_name(rule)),
        "difference": share(say("coreference.rules.difference")),
        "difference_low": share(say("coreference.low")),
        "difference_high": share(say("coreference.high")),
        "accuracy_chosen": share(say("coreference.rules.accuracy_chosen")),
        "n": number(say("coreference.rules.n_scored"), width="small"),
        "n_chosen": number(say("coreference.rules.n_chosen"), width="small"),
        "n_tried": number(say("coreference.rules.n_tried"), width="small"),
    }
