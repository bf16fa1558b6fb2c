"""Table 1 of Clark et al. on this file: the best head of every relation, and is it worth it?"""

import pandas as pd
import streamlit as st

from analysis.tables.norms.weighing import WEIGHT
from analysis.tables.probing import dependency_accuracy, dependency_baseline, dependency_best
from analysis.tables.probing.dependency_best import CHOSEN_ON
from pages.syntax.accuracy_chart import (
    CLICKED,
    HEAD_COLOUR,
    OTHER_COLOUR,
    accuracy_rows,
)
from pages.syntax.best_table import best_table
from pages.syntax.choices import LEAST, pick_merging, pick_relation, to_view
from pages.syntax.meanings import meanings
from pages.syntax.names import (
    EVERYTHING,
    direction_name,
    relation_name,
    told_relation,
)
from pages.syntax.pickers import tell
from pages.syntax.published import relations_beside
from pages.syntax.trees import require_trees
from pages.ui.about import about
from pages.ui.choices.clicks import clickable, fresh_click
from pages.ui.choices.pick import choose, pick, pick_number
from pages.ui.head.choice import head_name
from pages.ui.store.chosen import ask
from pages.ui.weighing import pick_weighing
from pages.ui.words.numbers import count, percent
from pages.ui.words.offsets import offset_told
from pages.ui.words.say import say

_ROWS = "sy_rows"


def show() -> None:
    require_trees(dependency_accuracy.TABLE, dependency_best.TABLE, dependency_baseline.TABLE)
    _follow_click()
    st.header(say("syntax.relations.title"), anchor=False)
    st.markdown(say("syntax.relations.meaning"))
    weighing = pick_weighing("sy")
    merging, chosen_on, least = _pick()
    best = best_heads(merging, chosen_on, weighing)
    shown = best[best["total"] >= least]
    st.markdown(_finding(best, shown, chosen_on))
    st.caption(say("syntax.relations.hidden", n=len(best) - len(shown), least=count(least)))
    if len(shown):
        key = f"{merging}_{chosen_on}_{least}_{weighing}"
        _rows(shown, key, chosen_on)
        _one_relation()
        best_table(shown, key=key, chosen_on=chosen_on)
    meanings()
    if weighing == WEIGHT:
        relations_beside(merging)
    about(dependency_best.TABLE, dependency_accuracy.TABLE, dependency_baseline.TABLE)


def _follow_click() -> None:
    for row in fresh_click(_ROWS).get(CLICKED, [])[:1]:
        choose("sy_relation", str(row[CLICKED]))


def _pick() -> tuple[str, str, int]:
    left, middle, right = st.columns([4, 4, 3])
    with left:
        merging = pick_merging()
    with middle:
        chosen_on = pick(
            "sy_chosen_on",
            say("syntax.chosen_on.label"),
            CHOSEN_ON,
            default=CHOSEN_ON[0],
            format=lambda each: say(f"syntax.chosen_on.{each}"),
            help=say("syntax.chosen_on.help"),
        )
    with right:
        least = pick_number(
            "sy_least",
            say("syntax.relations.least"),
            1,
            100_000,
            LEAST,
            help=say("syntax.relations.least_help"),
        )
    return merging, chosen_on, least


def best_heads(merging: str, chosen_on: str, weighing: str) -> pd.DataFrame:
    """The best head of every relation, the most accurate first, with its readable names."""
    way = {"merging": merging, "chosen_on": chosen_on, "weighing": weighing}
    best = ask(dependency_best.best, **way)
    totals = ask(dependency_accuracy.relations).set_index("relation")["n"]
    best = best.dropna(subset="accuracy").sort_values("accuracy", ascending=False)
    places = zip(best["layer"].astype(int), best["head"].astype(int), strict=True)
    return best.assign(
        total=best["relation"].map(totals),
        name=best["relation"].map(relation_name),
        head_told=[head_name(*place) for place in places],
        direction_told=best["direction"].map(direction_name),
        offset_written=best["offset"].map(offset_told, na_action="ignore"),
    ).reset_index(drop=True)


def _finding(best: pd.DataFrame, shown: pd.DataFrame, chosen_on: str) -> str:
    """In how many relations a head beats every fixed offset, where most, and what that is worth."""
    found = shown[~shown["relation"].isin(EVERYTHING)].dropna(subset="difference")
    if found.empty:
        return say("syntax.relations.finding_none")
    most = found.nlargest(1, "difference").iloc[0]
    sentences = [
        say(
            "syntax.relations.finding",
            better=int((found["difference_low"] > 0).sum()),
            n=len(found),
            relation=told_relation(most["relation"]),
            head=most["head_told"],
            accuracy=percent(most["accuracy"]),
            offset=most["offset_written"],
            offset_accuracy=percent(most["offset_accuracy"]),
        )
    ]
    together = best[best["relation"] == "all"]
    if len(together):
        row = together.iloc[0]
        share = percent(row["accuracy"])
        sentences.append(say("syntax.relations.together", head=row["head_told"], accuracy=share))
    tried = count(most["n_tried"])
    if chosen_on == "all":
        sentences.append(say("syntax.relations.flattered", n=tried))
    else:
        lost = (found["accuracy_chosen"] - found["accuracy"]).mean()
        sentences.append(say("syntax.relations.held_out", n=tried, points=f"{100 * lost:.1f}"))
    return " ".join(sentences)


def _rows(shown: pd.DataFrame, key: str, chosen_on: str) -> None:
    """The best heads in a chart; on halves, beside what they got where they were chosen."""
    held_out = say(f"syntax.chosen_on.series_{'all' if chosen_on == 'all' else 'held_out'}")
    parts, colours = [shown.assign(series=held_out)], {held_out: HEAD_COLOUR}
    if chosen_on != "all":
        where = say("syntax.chosen_on.series_chosen")
        absent = {"low": float("nan"), "high": float("nan"), "offset_accuracy": float("nan")}
        parts.append(shown.assign(series=where, accuracy=shown["accuracy_chosen"], **absent))
        colours = {where: OTHER_COLOUR, held_out: HEAD_COLOUR}
    told = {
        "name": say("syntax.relation.label"),
        "series": " ",
        "head_told": say("syntax.head.label"),
        "direction_told": say("syntax.direction.label"),
        "accuracy": say("syntax.accuracy"),
        "low": say("syntax.low"),
        "high": say("syntax.high"),
        "offset_written": say("syntax.offset.best"),
        "offset_accuracy": say("syntax.offset.accuracy"),
        "n": say("syntax.n"),
    }
    frame = pd.concat(parts, ignore_index=True)
    clickable(
        accuracy_rows(frame, colours=colours, order=shown["name"].tolist(), told=told),
        _ROWS,
        key=f"sy_rows_{key}",
        question=say("syntax.relations.question"),
        caption=say(f"syntax.relations.caption_{'all' if chosen_on == 'all' else 'half'}"),
        frame=shown.drop(columns=["name", "head_told", "direction_told", "offset_written"]),
    )


def _one_relation() -> None:
    """The picker that a click moves, what the relation is, and the ways on."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        relation = pick_relation()
    with right, st.container(horizontal=True):
        to_view("heads", say("syntax.to_heads"))
        to_view("sentences", say("syntax.to_sentences"))
    tell(relation)
