"""Whether heads find more antecedents when attention is weighed by norms."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.norms.weighing import WEIGHINGS
from analysis.tables.probing import coreference_best, coreference_difference
from pages.coreference.choices import pick_merging, type_name
from pages.coreference.mentions import require_mentions
from pages.coreference.rule_chart import rule_chart
from pages.ui.about import about
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.figure import figure, table
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask
from pages.ui.weighing import is_clear, told_difference, told_share
from pages.ui.words.say import say

_HALVES = ("first", "second")


def show() -> None:
    require_mentions(coreference_difference.TABLE, coreference_best.TABLE)
    st.header(say("coreference.weighing.title"), anchor=False)
    st.markdown(say("coreference.weighing.meaning"))
    merging = pick_merging()
    found = ask(coreference_difference.differences, merging=merging)
    st.markdown(_finding(found[found["mention_type"] == "all"].set_index("chosen_on")))
    _bars(merging)
    _table(found, merging)
    about(coreference_difference.TABLE, coreference_best.TABLE)


def _finding(parts: pd.DataFrame) -> str:
    """Both halves, each scored where heads were not chosen."""
    halves: list[Any] = [parts.loc[each] for each in _HALVES if each in parts.index]
    if len(halves) < len(_HALVES):
        return say("coreference.rules.too_few")
    told = say("list.comma").join(
        say(
            "coreference.weighing.half",
            weight=told_share(row["accuracy_weight"]),
            norm=told_share(row["accuracy_norm"]),
            difference=told_difference(row),
        )
        for row in halves
    )
    sides = {row["low"] > 0 for row in halves if is_clear(row["low"], row["high"])}
    clear = all(is_clear(row["low"], row["high"]) for row in halves) and len(sides) == 1
    verdict = ("more" if sides.pop() else "less") if clear else "open"
    finding = say("coreference.weighing.finding", told=told)
    return f"{finding} {say(f'coreference.weighing.verdict_{verdict}')}"


def _bars(merging: str) -> None:
    """The best head of the first half on the second, by weights and by norms."""
    names = {way: say(f"weighing.{way}") for way in WEIGHINGS}
    parts = [
        ask(coreference_best.best, merging=merging, chosen_on=_HALVES[0], weighing=way)
        .drop_duplicates("mention_type")
        .assign(method=name)
        for way, name in names.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    if frame.empty:
        return
    shown = frame.assign(type=frame["mention_type"].map(type_name))
    question = say("coreference.weighing.question")
    figure(
        rule_chart(
            shown,
            colours=dict(zip(names.values(), (SERIES_COLOURS[0], SERIES_COLOURS[2]), strict=True)),
            types=list(dict.fromkeys(shown["type"])),
        ),
        key=f"co_difference_{merging}",
        question=question,
        caption=say("coreference.weighing.caption"),
        frame=frame.drop(columns=["baseline", "baseline_accuracy"]),
        alt=question,
    )


def _table(found: pd.DataFrame, merging: str) -> None:
    shown = found.assign(
        type=found["mention_type"].map(type_name),
        part=found["chosen_on"].map(lambda each: say(f"coreference.rules.part_{each}")),
        **{f"told_{way}": _heads(found, way) for way in WEIGHINGS},
    )
    number = st.column_config.NumberColumn

    def share(name: str) -> Any:
        return number(say(f"coreference.weighing.{name}"), format="percent", width="small")

    table(
        shown,
        key=f"co_differences_{merging}",
        question=say("coreference.weighing.table"),
        caption=say("coreference.weighing.table_caption"),
        columns={
            "type": say("coreference.kind"),
            "part": say("coreference.rules.part"),
            "told_weight": say("coreference.weighing.best_weight"),
            "accuracy_weight": share("accuracy_weight"),
            "told_norm": say("coreference.weighing.best_norm"),
            "accuracy_norm": share("accuracy_norm"),
            "difference": share("difference"),
            "low": share("low"),
            "high": share("high"),
            "n": number(say("coreference.rules.n_scored"), width="small"),
        },
        height="content",
    )


def _heads(found: pd.DataFrame, way: str) -> list[str]:
    places = zip(found[f"layer_{way}"], found[f"head_{way}"], strict=True)
    return [head_name(int(layer), int(head)) for layer, head in places]
