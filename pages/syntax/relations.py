"""The best head of every relation, compared with the best fixed offset (Clark et al., table 1)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from analysis.published.heads import PublishedHead, numbers
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import WEIGHT
from analysis.statistics.probing import dependency_accuracy, dependency_best
from analysis.statistics.probing.dependency_best import CHOSEN_ON
from pages.syntax.choices import LEAST, best_heads, pick_relation
from pages.syntax.names import columns, direction_name, explain, explain_all, readable
from pages.syntax.row_charts import HEAD_COLOUR, OTHER_COLOUR, accuracy_rows
from pages.ui.choices.picker import choose
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.head.best_head import HALF, MERGING, MIN_WORDS, chosen_head
from pages.ui.head.choice import head_name, head_of
from pages.ui.page import section
from pages.ui.published_table import Row, show_published
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.dependencies import EVERYTHING, relation_label
from pages.ui.words.interval import difference_text, side_of
from pages.ui.words.numbers import count, offset_label, percent, points
from pages.ui.words.say import plain, say

_OWN = ("n", "accuracy", "low", "high")
_GAIN = ("offset", "offset_accuracy", "difference", "difference_low", "difference_high")
_UNIVERSAL = {
    "all": "all_words",
    "nn": "compound",
    "dobj": "obj",
    "poss": "nmod:poss",
    "auxpass": "aux:pass",
    "prt": "compound:prt",
}
"""The universal relation that is nearest to a label of Stanford Dependencies, where it has another
name. `prep` and `pobj` have none: there the preposition governs the noun, in Universal Dependencies
the noun governs it."""
_TABLE_1 = ("own_table", 1)


def _summary(inquiry: Inquiry) -> Findings:
    """Relation whose head, chosen on other sentences, exceeds the best fixed offset most."""
    frame = inquiry.ask(dependency_best.best, merging=MERGING, chosen_on=HALF)
    frame = frame[(frame["n"] >= MIN_WORDS) & ~frame["relation"].isin(EVERYTHING)]
    if frame.empty:
        return
    row = frame.loc[frame["difference"].idxmax()]
    ends = ["difference", "difference_low", "difference_high"]
    yield Finding(
        say("finding.label_syntax", relation=plain(row["relation"])),
        say("finding.points", points=points(row["difference"], digits=1)),
        say(
            "finding.syntax",
            **chosen_head(row),
            offset=percent(row["offset_accuracy"]),
            clear=int((frame["difference_low"] > 0).sum()),
            of=len(frame),
            least=MIN_WORDS,
        ),
        rows_of([(say("finding.beyond_offset"), *row[ends])]),
        baseline=0.0,
        format="+.0%",
        choices={"sy_chosen_on": HALF},
    )


@section(
    "relations",
    dependency_accuracy.TABLE,
    dependency_best.TABLE,
    dependency_accuracy.BASELINE,
    findings=_summary,
)
def relations(view: View) -> None:
    weighing = view.pick_weighing()
    merging = view.pick("merging", MERGINGS)
    chosen_on = view.pick("chosen_on", CHOSEN_ON)
    least = view.number("least", 1, 100_000, LEAST)
    best = best_heads(view, merging, chosen_on, weighing)
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
        explain(view, relation)
        chosen = () if chosen_on == "all" else ("n_chosen", "accuracy_chosen")
        names = ("relation", "layer", "head", "direction", *chosen, *_OWN, *_GAIN, "n_tried")
        view.table("best", readable(shown), columns(*names), state=state)
    explain_all(view)
    if weighing == WEIGHT:
        show_published(view, "heads", *_published(view, merging))


def _finding(view: View, best: pd.DataFrame, shown: pd.DataFrame, chosen_on: str) -> str:
    """Count the relations on which a head exceeds every offset; name the largest difference."""
    rows = shown[~shown["relation"].isin(EVERYTHING)].dropna(subset="difference")
    if rows.empty:
        return view.say("finding_none")
    most = rows.nlargest(1, "difference").iloc[0]
    of_most = most[["difference_low", "difference_high"]].set_axis(["low", "high"])
    side = side_of(*of_most)
    sentences = [
        view.say("finding", better=int((rows["difference_low"] > 0).sum()), n=len(rows)),
        view.say(
            f"widest_{side if side in ('unclear', 'unsure') else 'clear'}",
            relation=relation_label(most["relation"]),
            words=count(most["n"]),
            head=head_of(most),
            offset=offset_label(most["offset"]),
            difference=difference_text({"difference": most["difference"], **of_most}),
            **most[["accuracy", "offset_accuracy"]].map(percent),
        ),
    ]
    for _, row in best[best["relation"] == "all"].iterrows():
        share = percent(row["accuracy"])
        sentences.append(view.say("together", head=head_of(row), accuracy=share))
    kind = "flattered" if chosen_on == "all" else "held_out"
    lost = (rows["accuracy_chosen"] - rows["accuracy"]).mean()
    sentences.append(view.say(kind, n=count(most["n_tried"]), points=f"{100 * lost:.1f}"))
    return " ".join(sentences)


def _rows(view: View, shown: pd.DataFrame, chosen_on: str, state: str) -> None:
    """Draw the best heads; on halves, with their accuracy where they were chosen."""
    part = "all" if chosen_on == "all" else "half"
    name = view.say(f"series_{part}")
    parts, colours = [shown.assign(series=name)], {name: HEAD_COLOUR}
    if part == "half":
        chosen = view.say("series_chosen")
        absent = dict.fromkeys(("low", "high", "offset_accuracy"), float("nan"))
        there = shown.assign(series=chosen, accuracy=shown["accuracy_chosen"], **absent)
        parts, colours = [*parts, there], {chosen: OTHER_COLOUR, **colours}
    named = readable(pd.concat(parts, ignore_index=True))
    words = zip(named["relation_named"], named["total"], strict=True)
    chart = accuracy_rows(
        named.assign(relation_named=[view.say("row", relation=of, n=count(n)) for of, n in words]),
        colours=colours,
        tooltip=("relation", "series", "head_name", "direction", *_OWN, *_GAIN[:2]),
    )
    caption = view.say(f"rows_caption_{part}")
    click = partial(_choose, view)
    view.figure("rows", shown, chart, state=state, click=click, caption=caption)


def _choose(view: View, row: Mapping[Any, Any]) -> None:
    """Choose the relation that was clicked."""
    choose(view.key("relation"), str(row["relation"]))


def _published(view: View, merging: str) -> list[Row]:
    """Rows of table 1 with this file's best heads and offsets, chosen and scored on all of it."""
    best = view.ask(dependency_best.best, merging=merging, chosen_on="all").set_index("relation")
    rows = []
    for head in numbers("dependency_accuracy", place=_TABLE_1):
        (offset,) = numbers("dependency_baseline", place=_TABLE_1, relation=head.relation)
        label, name = _label(head), head_name(head.layer or 0, head.head or 0)
        to = direction_name(head.direction)
        of = view.say("published_head", relation=label, head=name, direction=to)
        ends = (_ours(best[end], head) for end in ("low", "high"))
        rows.append(Row(of, head, _ours(best["accuracy"], head), *ends))
        of = view.say("published_offset", relation=label, offset=offset_label(offset.offset or 0))
        rows.append(Row(of, offset, _ours(best["offset_accuracy"], offset)))
    return rows


def _ours(values: pd.Series, published: PublishedHead) -> float | None:
    """Value of this file for a relation of the paper, under its label in this treebank."""
    nearest = _UNIVERSAL.get(published.relation, "")
    return values.get(nearest, values.get(published.relation))


def _label(published: PublishedHead) -> str:
    """Label of the paper, with the universal one if that differs."""
    relation = published.relation
    if relation == "all":
        return relation_label("all_words")
    return f"{relation} (UD {_UNIVERSAL[relation]})" if relation in _UNIVERSAL else relation
