"""Every headline number of the files, and their differences from the first one."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.comparison.numbers import ALL_LAYERS, OF_HEADS, TABLES
from pages.compare.files import Compared, colours, pick_files, say_if_alone
from pages.compare.numbers import at_layers, differences_of, numbers_of
from pages.ui.charts.colours import ZERO
from pages.ui.charts.look import coloured, tooltips
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import with_interval
from pages.ui.words.numbers import signed
from pages.ui.words.say import plain

_NAMES, _VALUES, _CHANGES = 250, 380, 250  # pixels across
_DOT, _LEAST_ROW = 7, 21  # pixels down: of a file, of a number


@section("headlines", also=TABLES)
def headlines(view: View) -> None:
    compared = pick_files(view)
    found = numbers_of(compared)
    found = found[found["layer"] == ALL_LAYERS]
    if len(compared) > 1:
        changes = at_layers(differences_of(compared), layers=False)
        view.finding(_finding(view, compared, found, changes))
        view.note(pairing(view, changes))
        chart = alt.hconcat(
            _dots(found, compared, x="mean", width=_VALUES),
            _dots(changes, compared, x="difference", width=_CHANGES),
            spacing=12,
        )
    else:
        changes = found.iloc[:0]
        chart = _dots(found, compared, x="mean", width=_VALUES + _CHANGES)
    view.figure("numbers", found, chart, state=len(compared))
    if len(compared) > 1:
        columns = ("file", "name", "difference", "low", "high", "p", "q", "n")
        form = dict.fromkeys(("difference", "low", "high", "p", "q"), "%.4f")
        view.table("differences", changes, dict.fromkeys(columns) | form, state=len(compared))
    say_if_alone(view, compared)


def pairing(view: View, changes: pd.DataFrame) -> str:
    """Which files are compared text by text, and which by their means alone."""
    of_sequences = changes[~changes["number"].isin(OF_HEADS)]
    told = []
    for file, part in of_sequences.groupby("file", sort=False):
        word = "paired" if part["is_paired"].all() else "unpaired"
        told.append(view.say(word, file=plain(file), n=int(part["n"].max())))
    return " ".join(told)


def _finding(
    view: View, compared: list[Compared], found: pd.DataFrame, changes: pd.DataFrame
) -> str:
    """The number that differs most for its interval, and how many differ beyond theirs."""
    sure = changes.dropna(subset="is_clear")
    if sure.empty:
        return view.say("finding_unsure")
    half = (sure["high"] - sure["low"]).clip(lower=1e-12) / 2
    most = sure.loc[(sure["difference"].abs() / half).idxmax()]
    values = found[found["number"] == most["number"]].set_index("file")["mean"]
    return view.say(
        "finding",
        name=most["name"],
        file=plain(most["file"]),
        first=plain(compared[0].label),
        value=signed(values[most["file"]], digits=3),
        own=signed(values[compared[0].label], digits=3),
        change=with_interval(most["difference"], most["low"], most["high"], _change),
        n=int(sure["is_clear"].sum()),
        of=len(sure),
    )


def _change(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _dots(frame: pd.DataFrame, compared: list[Compared], *, x: str, width: int) -> Any:
    """A row per number, a dot with its interval per file; differences with a line at 0."""
    is_change = x == "difference"
    shown, colour, _ = coloured(frame, "file", None, colours(compared))
    names = list(dict.fromkeys(frame["name"]))
    labels = [each.label for each in compared]
    axis = alt.Axis(title=None, labelLimit=_NAMES, labelPadding=6, ticks=False, domain=False)
    base = alt.Chart(shown).encode(
        y=alt.Y("name:N", sort=names, axis=None if is_change else axis),
        yOffset=alt.YOffset("file:N", sort=labels, scale=alt.Scale(domain=labels, paddingOuter=1)),
        color=colour,
        tooltip=tooltips(
            dict.fromkeys(("name", "file", x, "low", "high", *(["q"] if is_change else []), "n")),
            shown,
            ".4f",
        ),
    )
    place = alt.X(f"{x}:Q", title=title(x), axis=alt.Axis(tickCount=6, grid=not is_change))
    marks = [
        base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", title=title(x)), x2="high:Q"),
        base.mark_circle(size=56, opacity=1).encode(x=place),
    ]
    if is_change:
        at_zero = alt.Chart(pd.DataFrame({"level": [0.0]})).mark_rule(color=ZERO)
        marks.insert(0, at_zero.encode(x="level:Q"))
    row = max(_LEAST_ROW, _DOT * (len(compared) + 1))
    return alt.layer(*marks).properties(width=width, height=row * len(names))
