"""Headline numbers of the files, and their differences from the open one."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.comparison.numbers import TABLES
from pages.compare.dots import dots
from pages.compare.files import pick_files, say_if_alone, texts_sentence
from pages.compare.numbers import (
    change_written,
    differences_of,
    most_different,
    numbers_of,
    pairing,
)
from pages.ui.page import section
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.numbers import signed
from pages.ui.words.say import plain

_VALUES, _CHANGES = 380, 250  # pixels across
_FORMATS = dict.fromkeys(("difference", "low", "high"), "%.4f") | dict.fromkeys("pq", "%.2g")


@section("headlines", also=TABLES)
def headlines(view: View) -> None:
    compared = pick_files(view)
    numbers = numbers_of(view, compared, by_layer=False)
    changes = differences_of(view, compared, by_layer=False)
    if len(compared) > 1:
        view.finding(_finding(view, compared, numbers, changes))
        view.finding(texts_sentence(view, compared))
        view.note(pairing(changes))
    right = view.say("numbers_right") if len(changes) else ""
    caption = f"{view.say('numbers_caption')} {right}".strip()
    chart = _chart(compared, numbers, changes)
    shown = pd.concat([numbers, changes], ignore_index=True)
    view.figure("numbers", shown, chart, state=len(compared), caption=caption)
    if len(changes):
        columns: dict[str, str | None] = {
            "file": None,
            "name": None,
            **_FORMATS,
            "n": None,
            "n_other": None,
        }
        view.table("differences", changes, columns, state=len(compared))
    say_if_alone(view, compared)


def _chart(compared: list[Store], numbers: pd.DataFrame, changes: pd.DataFrame) -> Any:
    """Draw the files' numbers, and their differences from those of the open file."""
    rows = list(dict.fromkeys(numbers["name"]))
    if changes.empty:
        return dots(numbers, compared, x="mean", rows=rows, tooltip=("n",))
    return alt.hconcat(
        dots(numbers, compared, x="mean", rows=rows, tooltip=("n",), width=_VALUES),
        dots(
            changes,
            compared,
            x="difference",
            rows=rows,
            tooltip=("q", "n", "n_other"),
            width=_CHANGES,
            named=False,
            at_zero=True,
        ),
        spacing=12,
    )


def _finding(
    view: View, compared: list[Store], numbers: pd.DataFrame, changes: pd.DataFrame
) -> str:
    """Name the number with the largest difference for its interval; count the clear differences."""
    most = most_different(changes)
    if most is None:
        return view.say("finding_unsure")
    values = numbers[numbers["number"] == most["number"]].set_index("file")["mean"]
    sure = changes["is_clear"].dropna()
    return view.say(
        f"finding_{'clear' if most['is_clear'] else 'unclear'}",
        name=most["name"],
        file=plain(most["file"]),
        first=plain(compared[0].label),
        value=signed(values[most["file"]], digits=4),
        own=signed(values[compared[0].label], digits=4),
        change=row_with_interval(most, "difference", change_written),
        n=int(sure.sum()),
        of=len(sure),
    )
