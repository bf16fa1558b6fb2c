"""Comparison of a sequence's numbers with those of all sequences of the corpus."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.sequences.numbers import (
    ALL,
    LEAST,
    largest_of_all,
    numbers_of,
    numbers_of_all,
    standing,
)
from pages.sequences.subject import Subject, pick_subject
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import MARKED, NEUTRAL, ZERO
from pages.ui.page import section
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, percent, signed
from pages.ui.words.say import plain

_TICKS = 100  # that stand for all sequences in a row
_ROW, _AROUND = 22, 70  # pixels
_ROOM = 1.15  # to the right, for the percentiles
_REACH = 4.0  # standard deviations that are always shown


@section("odd", also=tuple(group.table for group in ALL))
def odd(view: View) -> None:
    subject = pick_subject(view)
    corpus = numbers_of_all(view)
    own = _own(view.store, subject, corpus)
    others = corpus[corpus["seq"] != subject.seq]
    stands = standing(others, own)
    placed = stands.dropna(subset="distance")
    if placed.empty:
        view.nothing("too_few", least=LEAST)
    else:
        _placed(view, subject, placed, others, largest_of_all(view))
    columns = {
        "number": None,
        **dict.fromkeys(("value", "mean", "std"), "%.4g"),
        "distance": "%+.2f",
        **dict.fromkeys(("percentile", "further"), "percent"),
        "n_sequences": None,
    }
    view.table("table", stands, columns, state=subject.key)


def _placed(
    view: View, subject: Subject, stands: pd.DataFrame, others: pd.DataFrame, distances: pd.Series
) -> None:
    """Draw all numbers of the sequence, the most unusual one first."""
    view.finding(_finding(view, stands, distances[distances.index != subject.seq].dropna()))
    lengths = others.loc[others["number"] == view.say("n_tokens"), "value"]
    if not lengths.min() <= len(subject) <= lengths.max():
        ends = {"low": count(lengths.min()), "high": count(lengths.max())}
        view.finding(view.say("length", n=len(subject), **ends))
    view.note(view.say("chance", n=len(stands), share=_expected(len(stands))))
    n = count(stands["n_sequences"].max())
    view.figure("question", stands, _chart(stands, others), state=subject.key, n=n)


def _own(store: Store, subject: Subject, corpus: pd.DataFrame) -> pd.Series:
    """Numbers of the sequence by their names."""
    numbers = corpus[corpus["seq"] == subject.seq]
    if subject.seq is None and subject.reading is not None:
        numbers = numbers_of(store, subject.reading)
    return numbers.set_index("number")["value"]


def _finding(view: View, stands: pd.DataFrame, others: pd.Series) -> str:
    """Name the most unusual number, and count the other sequences with one as unusual.

    Args:
        others: largest distance of a number of each other sequence from the mean.
    """
    row = stands.iloc[0]
    return view.say(
        "finding_above" if row["distance"] > 0 else "finding_below",
        n=len(stands),
        number=plain(row["number"]),
        value=f"{row['value']:.4g}",
        mean=f"{row['mean']:.4g}",
        distance=signed(abs(row["distance"]), digits=1),
        further=percent(row["further"]),
        expected=_expected(len(stands)),
        share=percent(float((others >= abs(row["distance"])).mean())),
    )


def _expected(n: int) -> str:
    """Expected share of others that the most unusual of n independent numbers exceeds."""
    return percent(n / (n + 1))


def _chart(stands: pd.DataFrame, others: pd.DataFrame) -> Any:
    """Draw a row per number, the most unusual on top: ticks for others, a dot for the sequence."""
    order = stands["number"].tolist()
    ticks = pd.concat([_ticks(row, others) for row in stands.itertuples()], ignore_index=True)
    reach = max(_REACH, float(stands["distance"].abs().max()), float(ticks["distance"].abs().max()))
    scale = alt.Scale(domain=[-reach, _ROOM * reach], nice=False, padding=8)
    y = alt.Y("number:N", title=None, sort=order, axis=alt.Axis(labelLimit=330))
    x = alt.X("distance:Q", title=title("distance"), scale=scale, axis=alt.Axis(tickCount=9))
    columns = dict.fromkeys(("number", "value", "mean", "std", "distance", "percentile"))
    marks = (
        Chart(stands)
        .mark_circle(size=110, color=MARKED, opacity=1)
        .encode(x=x, y=y, tooltip=tooltips(columns, stands, ".3g"))
    )
    shown = stands.assign(share=stands["percentile"].map(percent))
    shares = Chart(shown).mark_text(align="right", fontSize=12, tooltip=False)
    shares = shares.encode(x=alt.XValue("width"), y=y, text=alt.Text("share:N"))
    strip = Chart(ticks).mark_tick(color=NEUTRAL, opacity=0.45, thickness=1.5, size=12)
    mean = Chart(pd.DataFrame({"distance": [0.0]})).mark_rule(color=ZERO, strokeDash=[4, 3])
    drawn = layered(
        mean.encode(x=x),
        strip.encode(x=x, y=y, tooltip=tooltips({"number": None}, ticks, "")),
        marks,
        shares,
    )
    return drawn.properties(height=_ROW * len(stands) + _AROUND)


def _ticks(row: Any, others: pd.DataFrame) -> pd.DataFrame:
    """Distances of the other sequences in one number; of many, a sample evenly spaced by rank."""
    values = np.sort(others.loc[others["number"] == row.number, "value"].to_numpy())
    places = np.unique(np.linspace(0, len(values) - 1, _TICKS).round().astype(int))
    return pd.DataFrame({"number": row.number, "distance": (values[places] - row.mean) / row.std})
