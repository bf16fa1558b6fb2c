"""The best head compared with three simple rules (table 2), also on texts it was not chosen on."""

import pandas as pd

from analysis.published.heads import numbers
from analysis.statistics.norms.weighing import WEIGHT
from analysis.statistics.probing import coreference_accuracy, coreference_best
from analysis.statistics.probing.coreference_accuracy import BASELINES, MENTION_TYPES, METHODS
from analysis.statistics.probing.coreference_best import CHOSEN_ON
from pages.coreference.choices import accuracy_bars, pick_best_head, pick_way
from pages.coreference.names import accuracy_of, method_name, type_name
from pages.ui.charts.colours import ANTECEDENT_COLOURS
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.head.best_head import HALF, MERGING, chosen_head
from pages.ui.head.choice import Head, head_name, head_names, head_of
from pages.ui.page import section
from pages.ui.published_table import Row, show_published, statistic_of
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

_FEW = 100  # mentions below which a share is unreliable
_SHARES = (
    *("accuracy", "low", "high", "baseline_accuracy"),
    *("difference", "difference_low", "difference_high", "accuracy_chosen"),
)


def _summary(inquiry: Inquiry) -> Findings:
    """Accuracy of the best head on texts it was not chosen on, compared with the rules there."""
    frame = inquiry.ask(coreference_best.best, merging=MERGING, chosen_on=HALF)
    frame = frame[frame["mention_type"] == "all"]
    if frame.empty:
        return
    names = list(map(method_name, frame["baseline"]))
    baselines = list(zip(names, frame["baseline_accuracy"], strict=True))
    listed = [f"{name} {percent(share)}" for name, share in baselines]
    row = frame.iloc[0]
    of_head = (say("finding.of_head"), row["accuracy"], row["low"], row["high"])
    yield Finding(
        say("finding.label_coreference"),
        percent(row["accuracy"]),
        say("finding.coreference", **chosen_head(row), rules=say("list.comma").join(listed)),
        rows_of([of_head, *baselines]),
        baseline=names[frame["baseline_accuracy"].argmax()],
    )


@section("rules", coreference_accuracy.TABLE, coreference_best.TABLE, findings=_summary)
def rules(view: View) -> None:
    choices = pick_way(view)
    head = pick_best_head(view, choices)
    best = view.ask_each(coreference_best.best, "chosen_on", CHOSEN_ON, **choices)
    view.finding(_finding(view, best[best["mention_type"] == "all"]))
    accuracies = view.ask(coreference_accuracy.of_head, layer=head[0], head=head[1], **choices)
    names = {method: method_name(method) for method in METHODS} | {"head": head_name(*head)}
    colours = {names[method]: ANTECEDENT_COLOURS[method] for method in METHODS}
    chart = accuracy_bars(view, accuracies.assign(method=accuracies["method"].map(names)), colours)
    state = (*choices.values(), *head)
    view.figure("bars", accuracies, chart, state=state, head=head_name(*head))
    view.to_section("documents", head=head_name(*head))
    _table(view, best, state=tuple(choices.values()))
    if choices["weighing"] == WEIGHT:
        show_published(view, "antecedents", *antecedents(accuracies, head))


def antecedents(accuracies: pd.DataFrame, head: Head) -> list[Row]:
    """Rows of table 2; the paper's head is compared only with the same head of the file.

    Args:
        accuracies: mention_type, method, accuracy, low, high of the file's rules and of one head.
    """
    ours = accuracies.set_index(["mention_type", "method"])
    ours = ours.reindex(columns=["accuracy", "low", "high"]).T
    rows = []
    for number in numbers("coreference_accuracy"):
        method = method_name(number.method)
        values = ours.get((number.mention_type, number.method), (None,))
        if number.method == "head":
            method = say("published.head", layer=number.layer, head=number.head)
            values = values if (number.layer, number.head) == head else (None,)
        rows.append(Row(statistic_of(method, type_name(number.mention_type)), number, *values))
    return rows


def _finding(view: View, best: pd.DataFrame) -> str:
    """Report the best head over all mentions, the rules, and both on texts it was not chosen on."""
    everywhere = best[best["chosen_on"] == "all"].set_index("baseline")
    row = everywhere.iloc[0]
    finding = view.say(
        "finding",
        head=head_of(row),
        **row[["n_tried", "n"]].map(count),
        accuracy=accuracy_of(row),
        **everywhere["baseline_accuracy"].map(percent),
    )
    if row["n"] < _FEW:
        finding += f" {view.say('few', few=_FEW)}"
    return f"{finding} {_on_halves(view, best)}"


def _on_halves(view: View, best: pd.DataFrame) -> str:
    """Compare the best head of either half with the sieve rule on the other half."""
    halves = best[(best["chosen_on"] != "all") & (best["baseline"] == "sieve")]
    if len(halves) < len(CHOSEN_ON) - 1:
        return view.say("too_few")
    values: dict[str, str] = {}
    for row in halves.to_dict("records"):
        part = row["chosen_on"]
        values |= {
            f"head_{part}": head_of(row),
            f"accuracy_{part}": accuracy_of(row),
            f"sieve_{part}": percent(row["baseline_accuracy"]),
        }
    more, less = (halves["difference_low"] > 0).all(), (halves["difference_high"] < 0).all()
    verdict = "more" if more else "less" if less else "open"
    return f"{view.say('honest', **values)} {view.say(f'verdict_{verdict}')}"


def _table(view: View, best: pd.DataFrame, state: tuple) -> None:
    """Tabulate the best heads where they were chosen and elsewhere, with one of the rules."""
    rule = view.pick("rule", BASELINES, default="sieve", format=method_name)
    shown = best[best["baseline"] == rule].sort_values(
        "mention_type", key=lambda types: types.map(MENTION_TYPES.index), kind="stable"
    )
    shown = shown.assign(
        type=shown["mention_type"].map(type_name),
        part=[view.say(f"part_{part}") for part in shown["chosen_on"]],
        name=head_names(shown),
    )
    columns: dict[str, str | None] = dict.fromkeys(("type", "part", "name"))
    columns |= dict.fromkeys(_SHARES, "percent")
    columns |= dict.fromkeys(("n", "n_chosen", "n_tried"))
    view.table("table", shown, columns, state=(*state, rule), options={"height": "content"})
