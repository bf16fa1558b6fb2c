"""Every head by how often the earlier mention it attends to most is an antecedent."""

import pandas as pd
import streamlit as st

from analysis.tables.probing import coreference_accuracy
from analysis.tables.probing.coreference_prediction import BASELINES
from pages.coreference.choices import (
    accuracies,
    best_head,
    follow_click,
    method_name,
    pick_antecedent_head,
    pick_merging,
    pick_type,
    to_documents,
    type_name,
)
from pages.coreference.mentions import require_mentions
from pages.ui.about import about
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.choices.clicks import clickable
from pages.ui.figure import table
from pages.ui.head.card import head_card
from pages.ui.head.choice import head_name
from pages.ui.weighing import pick_weighing
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

_MAP = "co_map"


def show() -> None:
    require_mentions(coreference_accuracy.TABLE)
    follow_click(_MAP)
    st.header(say("coreference.heads.title"), anchor=False)
    weighing = pick_weighing("co")
    left, right = st.columns(2)
    with left:
        mention_type = pick_type()
    with right:
        merging = pick_merging()
    found = accuracies(mention_type, merging, weighing)
    heads = found[found["method"] == "head"].astype({"layer": "int64", "head": "int64"})
    rules = found.set_index("method").loc[list(BASELINES), "accuracy"]
    st.markdown(_finding(heads, rules, mention_type))
    place = st.container()
    layer, head = pick_antecedent_head(best_head(merging, weighing))
    to_documents(layer, head)
    with place:
        _map(heads, f"{mention_type}_{merging}_{weighing}", mention_type, marked=(layer, head))
    head_card(layer=layer, head=head)
    _table(heads, rules, f"{mention_type}_{merging}_{weighing}")
    about(coreference_accuracy.TABLE)


def _finding(heads: pd.DataFrame, rules: pd.Series, mention_type: str) -> str:
    """How many heads do better than each rule, and the best one."""
    best = heads.nlargest(1, "accuracy").iloc[0]
    told = say("list.comma").join(
        say(
            "coreference.heads.beats",
            n=int((heads["accuracy"] > rules[name]).sum()),
            rule=method_name(name),
            accuracy=percent(rules[name]),
        )
        for name in BASELINES
    )
    return say(
        "coreference.heads.finding",
        type=type_name(mention_type),
        n=count(best["n"]),
        n_heads=len(heads),
        beats=told,
        head=head_name(int(best["layer"]), int(best["head"])),
        accuracy=percent(best["accuracy"]),
        low=percent(best["low"]),
        high=percent(best["high"]),
    )


def _map(heads: pd.DataFrame, key: str, mention_type: str, *, marked: tuple[int, int]) -> None:
    clickable(
        number_map(
            heads,
            x="head",
            y="layer",
            value="accuracy",
            titles=_titles(),
            orders={name: sorted(heads[name].unique()) for name in ("head", "layer")},
            colours=Ramp(LOW_TO_HIGH, 0.0, 1.0),
            format=".0%",
            fields=("layer", "head"),
            marked={"layer": marked[0], "head": marked[1]},
        ),
        _MAP,
        key=f"co_map_{key}_{marked[0]}_{marked[1]}",
        question=say("coreference.heads.map", type=type_name(mention_type)),
        caption=say("coreference.heads.map_caption"),
        frame=heads,
    )


def _titles() -> dict[str, str]:
    return {
        "layer": say("axis.layer"),
        "head": say("axis.head"),
        "accuracy": say("coreference.accuracy"),
        "low": say("coreference.low"),
        "high": say("coreference.high"),
    }


def _table(heads: pd.DataFrame, rules: pd.Series, key: str) -> None:
    shown = heads.sort_values("accuracy", ascending=False)
    shown = shown.assign(
        **{f"more_than_{name}": shown["accuracy"] - rules[name] for name in BASELINES}
    )
    number = st.column_config.NumberColumn
    shares = {
        "accuracy": say("coreference.accuracy"),
        "low": say("coreference.low"),
        "high": say("coreference.high"),
        **{
            f"more_than_{name}": say("coreference.heads.more_than", rule=method_name(name))
            for name in BASELINES
        },
    }
    table(
        shown,
        key=f"co_heads_{key}",
        question=say("coreference.heads.table"),
        caption=say("coreference.heads.table_caption"),
        columns={
            "layer": number(say("axis.layer")),
            "head": number(say("axis.head")),
            "n": number(say("coreference.n")),
            **{name: number(title, format="percent") for name, title in shares.items()},
        },
    )
