"""Table 1 of Clark et al. on this file: the best head of every relation, and is it worth it?"""

import pandas as pd

from analysis.tables.annotation import MERGINGS
from analysis.tables.norms.weighing import WEIGHT
from analysis.tables.probing import dependency_accuracy, dependency_baseline, dependency_best
from analysis.tables.probing.dependency_best import CHOSEN_ON
from pages.syntax.choices import LEAST, best_heads, pick_relation
from pages.syntax.names import EVERYTHING, columns, explain, explain_all, readable, relation_label
from pages.syntax.published import published_heads
from pages.syntax.row_charts import HEAD_COLOUR, OTHER_COLOUR, accuracy_rows
from pages.ui.choices.pick import choose
from pages.ui.head.choice import head_name
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.numbers import count, percent
from pages.ui.words.offsets import offset_label

_OWN = ("n", "accuracy", "low", "high")
_GAIN = ("offset", "offset_accuracy", "difference", "difference_low", "difference_high")


@section("relations", dependency_accuracy.TABLE, dependency_best.TABLE, dependency_baseline.TABLE)
def relations(view: View) -> None:
    for row in view.clicked("rows")[:1]:
        choose(view.key("relation"), str(row["relation"]))
    weighing = view.pick_weighing()
    merging = view.pick("merging", MERGINGS)
    chosen_on = view.pick("chosen_on", CHOSEN_ON)
    least = view.number("least", 1, 100_000, LEAST)
    best = best_heads(merging, chosen_on, weighing)
    shown = best[best["total"] >= least]
    view.finding(_finding(view, best, shown, chosen_on))
    view.note(view.say("hidden", n=len(best) - len(shown), least=count(least)))
    if len(shown):
        state = f"{merging}_{chosen_on}_{least}_{weighing}"
        _rows(view, shown, chosen_on, state)
        with view.toolbar():
            relation = pick_relation(view)
            view.to_section("heads")
            view.to_section("sentences")
        explain(relation)
        chosen = () if chosen_on == "all" else ("n_chosen", "accuracy_chosen")
        names = ("relation", "layer", "head", "direction", *chosen, *_OWN, *_GAIN, "n_tried")
        view.table("best", readable(shown), columns(*names), state=state)
    explain_all()
    if weighing == WEIGHT:
        view.beside("heads", *published_heads(merging))


def _finding(view: View, best: pd.DataFrame, shown: pd.DataFrame, chosen_on: str) -> str:
    """In how many relations a head beats every fixed offset, where most, and what that is worth."""
    rows = shown[~shown["relation"].isin(EVERYTHING)].dropna(subset="difference")
    if rows.empty:
        return view.say("finding_none")
    most = rows.nlargest(1, "difference").iloc[0]
    sentences = [
        view.say(
            "finding",
            better=int((rows["difference_low"] > 0).sum()),
            n=len(rows),
            relation=relation_label(most["relation"]),
            head=head_name(most["layer"], most["head"]),
            accuracy=percent(most["accuracy"]),
            offset=offset_label(most["offset"]),
            offset_accuracy=percent(most["offset_accuracy"]),
        )
    ]
    for _, row in best[best["relation"] == "all"].iterrows():
        name, share = head_name(row["layer"], row["head"]), percent(row["accuracy"])
        sentences.append(view.say("together", head=name, accuracy=share))
    tried = count(most["n_tried"])
    if chosen_on == "all":
        sentences.append(view.say("flattered", n=tried))
    else:
        lost = (rows["accuracy_chosen"] - rows["accuracy"]).mean()
        sentences.append(view.say("held_out", n=tried, points=f"{100 * lost:.1f}"))
    return " ".join(sentences)


def _rows(view: View, shown: pd.DataFrame, chosen_on: str, state: str) -> None:
    """The best heads in a chart; on halves, beside what they got where they were chosen."""
    part = "all" if chosen_on == "all" else "half"
    name = view.say(f"series_{part}")
    parts, colours = [shown.assign(series=name)], {name: HEAD_COLOUR}
    if part == "half":
        chosen = view.say("series_chosen")
        absent = dict.fromkeys(("low", "high", "offset_accuracy"), float("nan"))
        there = shown.assign(series=chosen, accuracy=shown["accuracy_chosen"], **absent)
        parts, colours = [*parts, there], {chosen: OTHER_COLOUR, **colours}
    chart = accuracy_rows(
        readable(pd.concat(parts, ignore_index=True)),
        colours=colours,
        tooltip=("relation", "series", "head_name", "direction", *_OWN, *_GAIN[:2]),
    )
    caption = view.say(f"rows_caption_{part}")
    view.figure("rows", shown, chart, state=state, click=True, caption=caption)
