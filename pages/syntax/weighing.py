"""Change in accuracy on syntactic relations when attention is weighted by norms."""

import pandas as pd

from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing import dependency_accuracy, dependency_best
from analysis.statistics.probing.dependency_best import CHOSEN_ON
from pages.syntax.choices import LEAST, best_heads
from pages.syntax.names import (
    EVERYTHING,
    columns,
    direction_name,
    readable,
    relation_label,
    word_counts,
)
from pages.syntax.row_charts import HEAD_COLOUR, OTHER_COLOUR, accuracy_rows
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import change_words, is_clear
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_ENDS = ("low", "high")
_COLUMNS = (
    *("relation", "n", "best_weight", "accuracy_weight", "best_norm", "accuracy_norm"),
    *("difference", "difference_low", "difference_high"),
)


@section("weighing", dependency_best.DIFFERENCE, dependency_best.TABLE, dependency_accuracy.TABLE)
def weighing(view: View) -> None:
    merging = view.pick("merging", MERGINGS)
    chosen_on = view.pick("part", CHOSEN_ON, default="first", of="chosen_on")
    least = view.number("least", 1, 100_000, LEAST)
    differences = view.ask(dependency_best.differences, merging=merging, chosen_on=chosen_on)
    shown = differences[differences["relation"].map(word_counts(view)) >= least].reset_index(
        drop=True
    )
    view.finding(_finding(view, shown, "all" if chosen_on == "all" else "half"))
    view.note(view.say("hidden", n=len(differences) - len(shown), least=count(least)))
    if len(shown):
        state = f"{merging}_{chosen_on}_{least}"
        _rows(view, shown, merging, chosen_on, state)
        named = readable(shown.rename(columns={end: f"difference_{end}" for end in _ENDS}))
        best = {f"best_{method}": _best(view, shown, method) for method in WEIGHINGS}
        view.table("table", named.assign(**best), columns(*_COLUMNS), state=state)


def _best(view: View, shown: pd.DataFrame, method: str) -> list[str]:
    """Best head and direction of every relation by one weighing, as text."""
    rows = shown[[f"{column}_{method}" for column in ("layer", "head", "direction")]]
    return [
        view.say("head_and_direction", head=head_name(layer, head), direction=direction_name(to))
        for layer, head, to in rows.itertuples(index=False, name=None)
    ]


def _finding(view: View, shown: pd.DataFrame, part: str) -> str:
    """Count the relations on which norms gain or lose beyond chance; name the largest change."""
    rows = shown[~shown["relation"].isin(EVERYTHING)]
    if rows.empty:
        return view.say("none")
    more, less = rows["low"] > 0, rows["high"] < 0
    row = rows.iloc[int(rows["difference"].abs().to_numpy().argmax())]
    clear = "clear" if is_clear(row["low"], row["high"]) else "open"
    sentences = [
        view.say(
            f"finding_{part}",
            n=len(rows),
            more=int(more.sum()),
            less=int(less.sum()),
            unclear=int((~more & ~less).sum()),
        ),
        view.say(f"largest_{clear}", relation=relation_label(row["relation"]), **change_words(row)),
    ]
    together = shown[shown["relation"] == "all"]
    sentences += [view.say("together", **change_words(row)) for _, row in together.iterrows()]
    return " ".join(sentences)


def _rows(view: View, shown: pd.DataFrame, merging: str, chosen_on: str, state: str) -> None:
    """Draw the best heads by weights and by norms, sorted by accuracy by weights."""
    names = [say(f"weighing.{method}") for method in WEIGHINGS]
    parts = [best_heads(view, merging, chosen_on, method) for method in WEIGHINGS]
    frame = pd.concat(parts, keys=names, names=["series"]).reset_index("series")
    frame = frame[frame["relation"].isin(shown["relation"])].reset_index(drop=True)
    chart = accuracy_rows(
        readable(frame),
        colours=dict(zip(names, (HEAD_COLOUR, OTHER_COLOUR), strict=True)),
        tooltip=("relation", "series", "head_name", "accuracy", *_ENDS, "offset_accuracy", "n"),
    )
    view.figure("rows", frame, chart, state=state)
