"""One number of every file over the layers, with the layers where the files differ."""

from functools import partial

import altair as alt
import pandas as pd

from analysis.comparison.numbers import NUMBERS, TABLES
from pages.compare.files import colours, pick_files, say_if_alone, texts_sentence
from pages.compare.numbers import (
    LEVEL,
    change_written,
    differences_of,
    number_name,
    numbers_of,
    pairing,
)
from pages.ui.charts.chart_theme import with_axes
from pages.ui.charts.standard import lines
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.say import plain

_DEFAULT = "ratio_whole"


@section("layers", also=TABLES)
def layers(view: View) -> None:
    compared = pick_files(view)
    numbers = numbers_of(view, compared, by_layer=True)
    changes = differences_of(view, compared, by_layer=True)
    number = pick_number(view, numbers)
    numbers, changes = (rows[rows["number"] == number] for rows in (numbers, changes))
    n_layers = {file.label: int(file.run["n_layers"]) for file in compared}
    figure = partial(view.figure, state=(number, len(compared)), number=number_name(number))
    of_files = partial(lines, colour="file", colours=colours(compared))
    if len(set(n_layers.values())) > 1:
        view.finding(view.say("finding_depths"))
        view.finding(texts_sentence(view, compared))
        view.note(view.say("depths"))
        frame = _with_depth(numbers, n_layers)
        chart = of_files(frame, x="depth", y="mean", zero=False)
        axis = alt.Axis(format=".1f", tickCount=6, labelAngle=0)
        figure("lines", frame, with_axes(chart, x=axis))
    elif changes.empty:
        figure("lines", numbers, of_files(numbers, x="layer", y="mean", zero=False))
    else:
        view.finding(_finding(view, changes))
        view.finding(texts_sentence(view, compared))
        view.note(pairing(changes))
        left, right = view.columns(2)
        with left:
            figure("lines", numbers, of_files(numbers, x="layer", y="mean", zero=False))
        with right:
            chart = of_files(changes, x="layer", y="difference", level=0.0, format="+.4f")
            figure("apart", changes, chart)
    say_if_alone(view, compared)


def pick_number(view: View, numbers: pd.DataFrame) -> str:
    """Let the reader pick one of the files' numbers."""
    present = set(numbers["number"])
    options = [number for number in NUMBERS if number in present]
    default = _DEFAULT if _DEFAULT in present else options[0]
    return view.pick("number", options, default=default, format=number_name, kind="select")


def _with_depth(numbers: pd.DataFrame, n_layers: dict[str, int]) -> pd.DataFrame:
    """Add the relative depth: 0 in the first layer of a file, 1 in its last."""
    last = (numbers["file"].map(n_layers) - 1).clip(lower=1)
    return numbers.assign(depth=(numbers["layer"] - 1) / last)


def _finding(view: View, changes: pd.DataFrame) -> str:
    """Name the layer in which a file differs most, and count those in which it does."""
    sure = changes.dropna(subset="is_clear")
    if sure.empty:
        return view.say("finding_unsure", name=changes["name"].iloc[0])
    most = sure.sort_values("difference", key=abs, ascending=False).iloc[0]
    here = changes[changes["file"] == most["file"]]
    is_paired = bool(here["is_paired"].all())
    clear = here["q"] <= LEVEL if is_paired else here["is_clear"]
    return view.say(
        f"finding_{'paired' if is_paired else 'unpaired'}",
        name=most["name"],
        file=plain(most["file"]),
        layer=int(most["layer"]),
        change=row_with_interval(most, "difference", change_written),
        n=int(clear.sum()),
        of=len(here),
    )
