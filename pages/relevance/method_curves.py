"""Whether the class falls when what a map calls relevant goes, and rises when it comes."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.relevance import perturbation, sequence_perturbation
from analysis.tables.relevance.sequence_perturbation import CURVES, RANDOM
from pages.relevance.layer_lines import rule_encodings
from pages.relevance.rules import in_order, pick_rules, rule_name
from pages.ui.charts.look import tooltips
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.numbers import signed
from pages.ui.words.say import say

_WIDTH, _HEIGHT = 315, 300


def curves(seq: int | None) -> None:
    """Both curves by rule, of all images or of one of them, and the areas below them.

    Args:
        seq: an image, whose own curves are offered if there are any.
    """
    means = ask(perturbation.curves)
    st.header(say("relevance_methods.curves"), anchor=False)
    st.markdown(say("relevance_methods.curves_meaning"))
    st.markdown(_finding(ask(perturbation.areas)))
    rules = pick_rules("re_curve_rules", in_order(list(means["rule"].unique())))
    own = _own(seq)
    whose = _pick_whose() if len(own) else "all"
    found = (means if whose == "all" else own)[lambda rows: rows["rule"].isin(rules)]
    frame = found.assign(name=found["rule"].map(rule_name))
    question = say(f"relevance_methods.question_curves_{whose}", seq=seq)
    figure(
        _chart(frame, rules),
        key=f"re_curves_{whose}_{seq}",
        question=question,
        caption=say(f"relevance_methods.caption_curves_{whose}", n=int(means["n_sequences"].max())),
        frame=frame,
        alt=question,
    )
    _areas(ask(perturbation.areas))


def _own(seq: int | None) -> pd.DataFrame:
    """The curves of one image: rule, curve, share, mean; no rows where it has none."""
    if seq is None or not open_store().rows.get(sequence_perturbation.TABLE.name):
        return pd.DataFrame()
    return ask(sequence_perturbation.of_sequence, seq=seq).rename(columns={"probability": "mean"})


def _pick_whose() -> str:
    return pick(
        "re_curves",
        say("relevance_methods.whose"),
        ("all", "one"),
        default="all",
        format=lambda each: say(f"relevance_methods.whose_{each}"),
    )


def _finding(areas: pd.DataFrame) -> str:
    """Whose deletion falls fastest and whose insertion rises fastest, against random order."""
    told = {}
    for curve, best in zip(CURVES, ("nsmallest", "nlargest"), strict=True):
        rows = areas[areas["curve"] == curve]
        first = getattr(rows[rows["rule"] != RANDOM], best)(1, "mean").iloc[0]
        chance = rows[rows["rule"] == RANDOM].iloc[0]
        told |= {
            curve: rule_name(first["rule"]),
            f"of_{curve}": _area(first),
            f"random_{curve}": _area(chance),
        }
    return say("relevance_methods.finding_curves", **told)


def _area(row: pd.Series) -> str:
    return f"{signed(row['mean'])} [{signed(row['low'])}, {signed(row['high'])}]"


def _chart(frame: pd.DataFrame, rules: Sequence[str]) -> Any:
    """Deletion beside insertion."""
    parts = [
        _panel(frame[frame["curve"] == curve], rules, titled=curve == CURVES[0]).properties(
            title=say(f"relevance_methods.{curve}"), width=_WIDTH, height=_HEIGHT
        )
        for curve in CURVES
    ]
    return alt.hconcat(*parts, spacing=28)


def _panel(frame: pd.DataFrame, rules: Sequence[str], *, titled: bool) -> Any:
    probability = say("relevance_methods.probability")
    y_title = probability if titled else ""
    base = alt.Chart(frame).encode(
        x=alt.X(
            "share:Q",
            title=say("relevance_methods.share"),
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5, grid=False),
        ),
        **rule_encodings(rules),
    )
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format="%", tickCount=5)
    y = alt.Y("mean:Q", title=y_title, scale=scale, axis=axis)
    intervals = [each for each in ("low", "high") if each in frame]
    told: dict[str | None, str | None] = {
        "name": say("relevance_corpus.rule"),
        "share": say("relevance_methods.share"),
        "mean": probability,
        **{each: say(f"relevance_corpus.{each}") for each in intervals},
    }
    line = base.mark_line(strokeWidth=2).encode(y=y)
    points = base.mark_circle(size=34, opacity=1).encode(
        y=y, strokeDash=alt.value([1, 0]), tooltip=tooltips(told, frame, ".1%")
    )
    if not intervals:
        return alt.layer(line, points)
    band = base.mark_area(opacity=0.12, aria=False, strokeWidth=0).encode(
        y=alt.Y("low:Q", title=y_title, scale=scale, axis=axis), y2=alt.Y2("high")
    )
    return alt.layer(band, line, points)


def _areas(areas: pd.DataFrame) -> None:
    """The area under every curve, to be sorted."""
    wide = areas.pivot(index="rule", columns="curve", values=["mean", "low", "high"])
    wide.columns = [f"{curve}_{what}" for what, curve in wide.columns]
    order = in_order(list(wide.index))
    frame = wide.loc[order].reset_index().assign(name=[rule_name(each) for each in order])
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {"name": say("relevance_corpus.rule")}
    for curve in CURVES:
        for what, key in (("mean", "area"), ("low", "low"), ("high", "high")):
            title = say(f"relevance_methods.{key}_column", curve=say(f"relevance_methods.{curve}"))
            columns[f"{curve}_{what}"] = number(title, format="%.3f")
    table(
        frame,
        key="re_areas",
        question=say("relevance_methods.question_areas"),
        caption=say("relevance_methods.caption_areas"),
        columns=columns,
    )
