"""Whether heads find more of a tree when attention is weighed by norms, and how sure that is."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.norms.weighing import WEIGHINGS
from analysis.tables.probing import dependency_accuracy, dependency_best, dependency_difference
from analysis.tables.probing.dependency_best import CHOSEN_ON
from pages.syntax.accuracy_chart import HEAD_COLOUR, OTHER_COLOUR, accuracy_rows
from pages.syntax.choices import LEAST, pick_merging
from pages.syntax.names import EVERYTHING, direction_name, relation_name, told_relation
from pages.syntax.relations import best_heads
from pages.syntax.trees import require_trees
from pages.ui.about import about
from pages.ui.choices.pick import pick, pick_number
from pages.ui.figure import figure, table
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask
from pages.ui.weighing import is_clear, told_difference, told_share
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_COLOURS = dict(zip(WEIGHINGS, (HEAD_COLOUR, OTHER_COLOUR), strict=True))


def show() -> None:
    require_trees(dependency_difference.TABLE, dependency_best.TABLE, dependency_accuracy.TABLE)
    st.header(say("syntax.weighing.title"), anchor=False)
    merging, chosen_on, least = _pick()
    found = _named(ask(dependency_difference.differences, merging=merging, chosen_on=chosen_on))
    shown = found[found["total"] >= least].reset_index(drop=True)
    st.markdown(_finding(shown, chosen_on))
    st.caption(say("syntax.relations.hidden", n=len(found) - len(shown), least=count(least)))
    if len(shown):
        key = f"{merging}_{chosen_on}_{least}"
        _rows(shown, merging, chosen_on, key)
        _table(shown, key)
    about(dependency_difference.TABLE, dependency_best.TABLE)


def _pick() -> tuple[str, str, int]:
    left, middle, right = st.columns([3, 5, 3])
    with left:
        merging = pick_merging()
    with middle:
        chosen_on = pick(
            "sy_part",
            say("syntax.chosen_on.label"),
            CHOSEN_ON,
            default="first",
            format=lambda each: say(f"syntax.chosen_on.{each}"),
            help=say("syntax.chosen_on.help"),
        )
    with right:
        least = pick_number("sy_least", say("syntax.relations.least"), 1, 100_000, LEAST)
    return merging, chosen_on, least


def _named(found: pd.DataFrame) -> pd.DataFrame:
    """With the readable names of relations and heads, and the words of the whole corpus."""
    totals = ask(dependency_accuracy.relations).set_index("relation")["n"]
    named = found.assign(
        total=found["relation"].map(totals), name=found["relation"].map(relation_name)
    )
    for way in WEIGHINGS:
        rows = found[[f"{each}_{way}" for each in ("layer", "head", "direction")]]
        named[f"told_{way}"] = [
            say("syntax.weighing.head", head=head_name(layer, head), way=direction_name(way_))
            for layer, head, way_ in rows.itertuples(index=False, name=None)
        ]
    return named


def _finding(shown: pd.DataFrame, chosen_on: str) -> str:
    """In how many relations norms gain or lose beyond chance, and where the change is largest."""
    found = shown[~shown["relation"].isin(EVERYTHING)]
    if found.empty:
        return say("syntax.weighing.none")
    more, less = found["low"] > 0, found["high"] < 0
    told = [
        say(
            f"syntax.weighing.finding_{'all' if chosen_on == 'all' else 'half'}",
            n=len(found),
            more=int(more.sum()),
            less=int(less.sum()),
            unclear=int((~more & ~less).sum()),
        )
    ]
    row = found.iloc[int(found["difference"].abs().to_numpy().argmax())]
    told.append(
        say(
            f"syntax.weighing.largest_{'clear' if is_clear(row['low'], row['high']) else 'open'}",
            relation=told_relation(str(row["relation"])),
            weight=told_share(row["accuracy_weight"]),
            norm=told_share(row["accuracy_norm"]),
            difference=told_difference(row),
        )
    )
    together = shown[shown["relation"] == "all"]
    if len(together):
        every = together.iloc[0]
        told.append(
            say(
                "syntax.weighing.together",
                weight=told_share(every["accuracy_weight"]),
                norm=told_share(every["accuracy_norm"]),
                difference=told_difference(every),
            )
        )
    return " ".join(told)


def _rows(shown: pd.DataFrame, merging: str, chosen_on: str, key: str) -> None:
    names = {way: say(f"weighing.{way}") for way in WEIGHINGS}
    frame = pd.concat(
        [best_heads(merging, chosen_on, way).assign(series=name) for way, name in names.items()],
        ignore_index=True,
    )
    frame = frame[frame["relation"].isin(shown["relation"])]
    told = {
        "name": say("syntax.relation.label"),
        "series": say("weighing.label"),
        "head_told": say("syntax.head.label"),
        "accuracy": say("syntax.accuracy"),
        "low": say("syntax.low"),
        "high": say("syntax.high"),
        "offset_accuracy": say("syntax.offset.accuracy"),
        "n": say("syntax.n"),
    }
    order = shown.sort_values("accuracy_weight", ascending=False)["name"].tolist()
    colours = {names[way]: colour for way, colour in _COLOURS.items()}
    question = say("syntax.weighing.question")
    figure(
        accuracy_rows(frame, colours=colours, order=order, told=told),
        key=f"sy_difference_{key}",
        question=question,
        caption=say("syntax.weighing.caption"),
        frame=frame.drop(columns=["name", "head_told", "direction_told", "offset_written"]),
        alt=question,
    )


def _table(shown: pd.DataFrame, key: str) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn

    def share(name: str) -> Any:
        return number(say(f"syntax.weighing.{name}"), format="percent", width="small")

    table(
        shown,
        key=f"sy_differences_{key}",
        question=say("syntax.weighing.table"),
        caption=say("syntax.weighing.table_caption"),
        columns={
            "name": text(say("syntax.relation.label")),
            "n": number(say("syntax.n"), format="localized", width="small"),
            "told_weight": text(say("syntax.weighing.best_weight")),
            "accuracy_weight": share("accuracy_weight"),
            "told_norm": text(say("syntax.weighing.best_norm")),
            "accuracy_norm": share("accuracy_norm"),
            "difference": share("difference"),
            "low": share("low"),
            "high": share("high"),
        },
    )
