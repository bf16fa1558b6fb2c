"""Deletion and insertion curves: class probability while the most relevant patches go or come."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.relevance import perturbation
from analysis.statistics.relevance.perturbation import CURVES, RANDOM
from pages.relevance.rule_lines import rule_lines
from pages.relevance.rules import in_order, pick_rules, rule_evidence, rule_name
from pages.ui.charts.chart_theme import layered
from pages.ui.finding import Finding, Findings
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import row_with_interval, side_of, verdict
from pages.ui.words.numbers import percent
from pages.ui.words.say import say


def summary(inquiry: Inquiry) -> Findings:
    """Name the rule with the smallest deletion area, with that of a random order."""
    if not inquiry.store.holds(perturbation.TABLE):
        return
    areas = inquiry.ask(perturbation.areas)
    areas = areas[areas["curve"] == "deletion"].set_index("rule")
    named = areas[areas.index != RANDOM]
    if named.empty or RANDOM not in areas.index:
        return
    best = str(named["mean"].idxmin())
    row, random = named.loc[best], areas.loc[RANDOM]
    yield Finding(
        say("finding.label_deletion", rule=rule_name(best)),
        f"{percent(random['mean'])} → {percent(row['mean'])}",
        say(
            "finding.deletion",
            rule=rule_name(best),
            mean=row_with_interval(row, written=percent),
            random=row_with_interval(random, written=percent),
            others=len(named) - 1,
        ),
        rule_evidence(areas.loc[[best, RANDOM]]),
        baseline=rule_name(RANDOM),
    )


def curves(view: View, seq: int | None) -> None:
    """Draw both curves by rule, for all images or for one, and tabulate their areas."""
    means, areas = view.ask(perturbation.curves), view.ask(perturbation.areas)
    view.write("header", view.say("curves_title"), anchor=False)
    view.note(view.say("curves_meaning"))
    view.finding(_finding(view, areas))
    rules = pick_rules(view, "curve_rules", means["rule"])
    of_one = _own(view, seq)
    whose = view.pick("curves", ("all", "one")) if len(of_one) else "all"
    frame = means if whose == "all" else of_one
    frame = frame[frame["rule"].isin(rules)]
    frame = frame.assign(name=frame["rule"].map(rule_name))
    parts = [_panel(view, frame, rules, curve) for curve in CURVES]
    view.figure(
        f"change_{whose}",
        frame,
        alt.hconcat(*parts, spacing=28),
        state=seq,
        seq=seq,
        n=int(means["n_sequences"].max()),
    )
    _areas(view, areas)


def _own(inquiry: Inquiry, seq: int | None) -> pd.DataFrame:
    """Curves of one image: rule, curve, share, mean; empty if it has none."""
    if seq is None or not inquiry.store.holds(perturbation.PER_SEQUENCE):
        return pd.DataFrame()
    return inquiry.ask(perturbation.of_sequence, seq=seq).rename(columns={"probability": "mean"})


def _finding(view: View, areas: pd.DataFrame) -> str:
    """Name the rules with the lowest deletion and the highest insertion area, with random order."""
    sentences = []
    for curve, best in zip(CURVES, ("nsmallest", "nlargest"), strict=True):
        rows = areas[areas["curve"] == curve]
        is_random = rows["rule"] == RANDOM
        first, random = getattr(rows[~is_random], best)(1, "mean").iloc[0], rows[is_random].iloc[0]
        values = {"area": row_with_interval(first), "random": row_with_interval(random)}
        sentences.append(view.say(f"finding_{curve}", rule=rule_name(first["rule"]), **values))
        sentences.append(verdict(side_of(*first[["low", "high"]], *random[["low", "high"]])))
    return " ".join(sentences)


def _panel(view: View, frame: pd.DataFrame, rules: list[str], curve: str) -> Any:
    """Draw one curve of every rule; only the first panel has a vertical title."""
    axis, scale = alt.Axis(format="%", tickCount=5), alt.Scale(domain=[0, 1])
    across = alt.Axis(format="%", tickCount=5, grid=False)
    lines = rule_lines(
        frame[frame["curve"] == curve],
        rules=rules,
        x=alt.X("share:Q", title=title("share"), scale=scale, axis=across),
        y={"title": title("mean") if curve == CURVES[0] else "", "axis": axis, "scale": scale},
        format=".1%",
    )
    return layered(*lines, title=view.say(f"curve_{curve}"), width=315, height=300)


def _areas(view: View, areas: pd.DataFrame) -> None:
    """Tabulate the area under every curve."""
    wide = areas.pivot(index="rule", columns="curve", values=["mean", "low", "high"])
    wide.columns = [f"area_{curve}_{number}" for number, curve in wide.columns]
    wide = wide.loc[in_order(wide.index)].reset_index()
    columns = [f"area_{curve}_{number}" for curve in CURVES for number in ("mean", "low", "high")]
    view.table("areas", wide.assign(name=wide["rule"].map(rule_name)), ["name", *columns])
