"""Attention that goes to no token, in models whose heads have sink logits."""

import altair as alt
import pandas as pd

from analysis.sinks import NO_TOKEN
from analysis.statistics.sinks import no_token as statistic
from pages.sinks.places import as_series
from pages.ui.charts.chart_theme import with_axes
from pages.ui.charts.colours import SERIES_COLOURS, SINK_COLOURS
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import lines
from pages.ui.head.choice import head_with_most, to_head
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval, side_of
from pages.ui.words.numbers import percent

_HALVES = ("early", "late")
_COLOURS: dict[str, str] = dict(
    zip(NO_TOKEN, (SERIES_COLOURS[0], SINK_COLOURS["even"], *SERIES_COLOURS[1:4]), strict=True)
)


def has_sink_logits(store: Store) -> bool:
    """Return True if heads of the chosen file's model have a logit that brings no vector."""
    return "layers_with_sink_logits" in store.facts


@section("no_token", statistic.TABLE, also=(statistic.PER_SEQUENCE,), when=has_sink_logits)
def no_token(view: View) -> None:
    frame = view.ask(statistic.by_layer)
    view.finding(_finding(view, frame))
    shown, drawn = as_series(view, frame, _COLOURS)
    chart = lines(
        shown,
        **drawn,
        dashed=[view.say(f"series_{name}") for name in ("even", *_HALVES)],
        y_title=view.say("axis"),
        format=".1%",
    )
    view.figure("layers", shown, with_axes(chart, y=alt.Axis(format="%", tickCount=6)))
    _map(view)


def _map(view: View) -> None:
    """Draw one quantity for every head."""
    heads = view.ask(statistic.of_heads)
    quantity = view.pick(
        "quantity", ("no_token", "first"), format=lambda n: view.say(f"series_{n}")
    )
    of_heads = heads[heads["quantity"] == quantity]
    marked = pick_head(view, default=head_with_most(of_heads, "mean"))
    chart = head_map(
        of_heads,
        "mean",
        view.say("axis"),
        format=".1%",
        legend_format="~%",
        tooltip=("low", "high"),
        marked=marked,
    )
    state, name = (quantity, *marked), view.say(f"series_{quantity}")
    view.figure("map", of_heads, chart, state=state, click=to_head, quantity=name)


def _finding(view: View, frame: pd.DataFrame) -> str:
    """Report the layer with the largest share beside its baselines, and its two halves."""
    peak = frame[frame["quantity"] == "no_token"].nlargest(1, "mean").iloc[0]
    there = frame[frame["layer"] == peak["layer"]].set_index("quantity")
    others = there.loc[["even", "first"]]
    ends = (peak["low"], peak["high"], others["mean"].max(), others["high"].max())
    sentences = [
        view.say(
            "finding",
            layer=int(peak["layer"]),
            share=row_with_interval(peak, written=percent),
            even=percent(there.loc["even", "mean"]),
            first=row_with_interval(there.loc["first"], written=percent),
        ),
        view.say(f"finding_{side_of(*ends)}"),
    ]
    if set(_HALVES) <= set(there.index):
        early, late = (there.loc[name] for name in _HALVES)
        halves = {name: row_with_interval(there.loc[name], written=percent) for name in _HALVES}
        side = side_of(early["low"], early["high"], late["mean"], late["high"])
        sentences.append(view.say(f"halves_{side}", **halves))
    return " ".join(sentences)
