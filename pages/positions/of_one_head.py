"""Charts of one head for several sections: a card of numbers, and score and attention by offset."""

from collections.abc import Callable, Iterable
from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions import query_key_correlation, score_share
from analysis.statistics.positions.head_offset import KERNEL, REACH
from pages.positions.offsets import counting_picker, offset_axis
from pages.ui.charts.chart_theme import Chart, column_tooltips, layered
from pages.ui.charts.colours import ATTENTION_COLOUR, MARKED, SCORE_COLOUR
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, offset_label, scientific

WIDTH, _CURVE = 660, 150
_REACHES = (10, 30, 64)
_COLUMNS = {
    KERNEL: (KERNEL, "attention_per_pair"),
    "sum": ("value", "attention"),
    "per_pair": ("value_per_pair", "attention_per_pair"),
    "centred": ("value_centred", "attention"),
}
"""Columns of `query_key_correlation.of_head` and `score_share.kernel`, by counting."""
_ERRORS = ("score_error", "trace_error", "attention_error")


def numbers_of_head(view: View, layer: int, numbers: Iterable[tuple[str, str, str]]) -> None:
    """Draw a card of numbers, and the share of a layer's attention due to queries and keys.

    Args:
        numbers: label, value and help of each; those that the file lacks are left out.
    """
    shown = list(numbers)
    with view.place("container", border=True):
        columns = view.split(max(len(shown), 1))
        for place, (label, value, help) in zip(columns, shown, strict=False):
            with place:
                view.write("metric", label, value=value, help=help)
        errors = view.ask(query_key_correlation.errors).dropna(subset=list(_ERRORS))
        for _, row in errors[errors["layer"] == layer].iterrows():
            worst = {name: scientific(float(row[name])) for name in _ERRORS}
            view.write(
                "caption",
                view.say("card_errors", layer=layer, n=count(row["n_sequences"]), **worst),
            )


def score_above_attention(
    view: View,
    name: str,
    layer: int,
    head: int,
    *,
    above: Callable[[tuple[int, int]], list[Any]] = lambda domain: [],
) -> int:
    """Draw the score of every offset above its attention.

    Args:
        name: of the figure.
        above: further charts, above both, over the offsets from the first to the last one shown.

    Returns:
        the offset with the largest score within the window.
    """
    reach = view.pick("reach", _REACHES, default=30, format=lambda offset: f"±{offset}")
    counting = counting_picker(view)
    sums = view.ask(query_key_correlation.of_head, layer=layer, head=head)
    if view.store.knows_offsets:
        sums = sums.merge(view.ask(score_share.kernel, layer=layer, head=head), on="offset")
    score, given = KERNEL if counting == KERNEL else "score", "given"
    names = dict(zip((score, given), _COLUMNS[counting], strict=True))
    curves = sums.assign(**{curve: sums[column] for curve, column in names.items()})
    near = curves[curves["offset"].abs() <= REACH].set_index("offset")
    peaks = near[list(names)].idxmax().astype(int)
    agree = "same" if peaks[score] == peaks[given] else "other"
    labels = {"score": offset_label(peaks[score]), "attention": offset_label(peaks[given])}
    view.finding(view.say(f"peaks_{agree}", **labels))
    domain = (-reach, 0 if view.store.is_causal else reach)
    shown = curves["offset"].between(*domain)
    parts = [
        _curve(
            curves[shown],
            curve,
            offsets_across(domain, titled=curve == given),
            colour=colour,
            peak=int(peaks[curve]),
            unit=view.say(f"unit_{curve}_{counting}"),
        )
        for curve, colour in ((score, SCORE_COLOUR), (given, ATTENTION_COLOUR))
    ]
    directions = above(domain)
    chart = alt.concat(*directions, *parts, columns=1, spacing=10)
    ends = (f"{curve}{end}" for curve in names for end in ("", "_low", "_high"))
    drawn = ("offset", *ends, "n_sequences")
    frame = curves.loc[shown, [column for column in drawn if column in curves]]
    view.figure(
        name,
        pd.concat([frame, *(part.data for part in directions)], ignore_index=True),
        chart.resolve_scale(color="independent"),
        state=(layer, head, reach, counting),
        n=count(sums["n_sequences"].max()),
        window=REACH,
    )
    return int(peaks[score])


def offsets_across(domain: tuple[int, int], *, titled: bool = False) -> alt.X:
    return alt.X(
        "offset:Q",
        title=title("offset") if titled else None,
        scale=alt.Scale(domain=[domain[0] - 0.5, domain[1] + 0.5], nice=False, zero=False),
        axis=offset_axis(tickCount=13),
    )


def _curve(curves: pd.DataFrame, curve: str, x: alt.X, *, colour: str, peak: int, unit: str) -> Any:
    """Draw a line over offsets with its peak marked, and its interval if there is one."""
    axis = alt.Axis(format=".3~r", tickCount=4, minExtent=36)
    low, high = ends = f"{curve}_low", f"{curve}_high"
    sure = low in curves and curves[low].notna().any()
    y: dict[str, Any] = {"title": unit, "scale": alt.Scale(zero=False), "axis": axis}
    columns = (curve, *ends) if sure else (curve,)
    base = Chart(curves).encode(
        x=x,
        y=alt.Y(f"{curve}:Q", **y),
        tooltip=column_tooltips(curves, offset="+d", **dict.fromkeys(columns, ".4~g")),
    )
    between = base.encode(y=alt.Y(f"{low}:Q", **y), y2=alt.Y2(high))
    bands = [between.mark_area(color=colour, opacity=0.2)] if sure else []
    line = base.mark_line(color=colour, point={"size": 18, "filled": True, "color": colour})
    at = curves[curves["offset"] == peak].assign(label=f"t = {offset_label(peak)}")
    marked = Chart(at).encode(x=x)
    rule = marked.mark_rule(color=MARKED, strokeWidth=2, strokeDash=[6, 4])
    label = marked.mark_text(fontSize=15, fontWeight="bold")
    chart = layered(rule, *bands, line, label.encode(y=alt.YValue(-8), text=alt.Text("label:N")))
    return chart.properties(title=heading(title(curve)), width=WIDTH, height=_CURVE)


def heading(name: str) -> alt.Title:
    """Title of one chart among several."""
    return alt.Title(name, anchor="start", frame="group", offset=14)
