"""Accuracy of the best head when attention is weighted by norms instead of weights alone."""

import pandas as pd

from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing import coreference_best
from pages.coreference.choices import accuracy_bars
from pages.coreference.names import type_name
from pages.ui.charts.colours import WEIGHING_COLOURS
from pages.ui.head.choice import head_names
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import change_words
from pages.ui.words.say import say

_HALVES = ("first", "second")


@section("weighing", coreference_best.DIFFERENCE, coreference_best.TABLE)
def weighing(view: View) -> None:
    merging = view.pick("merging", MERGINGS)
    differences = view.ask(coreference_best.differences, merging=merging)
    view.finding(_finding(view, differences[differences["mention_type"] == "all"]))
    _bars(view, merging)
    shown = differences.assign(
        type=differences["mention_type"].map(type_name),
        part=[view.say(f"part_{part}") for part in differences["chosen_on"]],
        **{f"best_{method}": head_names(differences, f"_{method}") for method in WEIGHINGS},
    )
    columns: dict[str, str | None] = {"type": None, "part": None}
    for method in WEIGHINGS:
        columns |= {f"best_{method}": None, f"accuracy_{method}": "percent"}
    columns |= {"difference": "percent", "low": "percent", "high": "percent", "n": None}
    view.table("table", shown, columns, state=merging, options={"height": "content"})


def _finding(view: View, halves: pd.DataFrame) -> str:
    """Report the difference on both halves; each half scores the head chosen on the other."""
    rows = halves.set_index("chosen_on").reindex(_HALVES).dropna(subset="difference")
    if len(rows) < len(_HALVES):
        return view.say("too_few")
    shares = [view.say("half", **change_words(row)) for _, row in rows.iterrows()]
    more, less = (rows["low"] > 0).all(), (rows["high"] < 0).all()
    verdict = view.say(f"verdict_{'more' if more else 'less' if less else 'open'}")
    return f"{view.say('finding', shares=say('list.comma').join(shares))} {verdict}"


def _bars(view: View, merging: str) -> None:
    """Draw the accuracy on the second half of the first half's best head, by weights and norms."""
    choices = {"merging": merging, "chosen_on": _HALVES[0]}
    best = view.ask_each(coreference_best.best, "weighing", WEIGHINGS, **choices)
    frame = best.rename(columns={"weighing": "method"}).drop_duplicates(["method", "mention_type"])
    if frame.empty:
        return
    names = {method: say(f"weighing.{method}") for method in WEIGHINGS}
    frame["method"] = frame["method"].map(names)
    colours = {names[method]: WEIGHING_COLOURS[method] for method in WEIGHINGS}
    chart = accuracy_bars(view, frame, colours)
    exported = frame.drop(columns=["baseline", "baseline_accuracy"])
    view.figure("bars", exported, chart, state=merging)
