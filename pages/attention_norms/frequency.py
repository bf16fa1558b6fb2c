"""Do rare words get more weight, or longer vectors, than frequent ones?"""

import pandas as pd

from analysis.tables.norms import frequency_correlation
from pages.ui.charts.standard import bars
from pages.ui.choices.links import link_to_view
from pages.ui.page import section
from pages.ui.store.absences import has_special
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.numbers import signed
from pages.ui.words.quantities import quantity_name

_COLUMNS = ("origin", "name", "special", "spearman", "low", "high", "n")


@section("frequency", frequency_correlation.TABLE)
def frequency(view: View) -> None:
    frame = ask(frequency_correlation.correlations)
    if not has_special():  # then nothing is left out, and both are the same
        frame = frame[~frame["special_tokens"]]
    special = {True: view.say("with_special"), False: view.say("without_special")}
    frame = frame.assign(
        special=frame["special_tokens"].map(special),
        name=frame["quantity"].map(quantity_name),
        origin=[view.say(f"source_{origin}") for origin in frame["source"]],
    )
    for source, part in frame.groupby("source", sort=False):
        _correlations(view, str(source), part.dropna(subset="spearman"))
    view.table("table", frame, _COLUMNS)
    link_to_view("layer_mixing", "frequency", view.say("see_ratio"))


def _correlations(view: View, source: str, frame: pd.DataFrame) -> None:
    if frame.empty:
        return view.nothing("nothing_varies")
    for _, row in frame[~frame["special_tokens"]].iterrows():
        view.finding(_finding(view, row))
    chart = bars(
        frame,
        x="name",
        y="spearman",
        colour="special",
        x_title="",
        colour_title=" ",
    )
    view.figure(f"question_{source}", frame, chart, caption=view.say("caption"))


def _finding(view: View, row: pd.Series) -> str:
    """What one correlation means in plain words."""
    who = "rare" if row["low"] > 0 else "frequent" if row["high"] < 0 else "unclear"
    numbers = row[["spearman", "low", "high"]].map(signed)
    return view.say(f"finding_{who}", quantity=row["name"], **numbers)
