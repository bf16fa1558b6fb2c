"""Score of queries and keys of a head by offset, above its attention and below its directions."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions.attention import KERNEL, REACH
from analysis.statistics.positions.scores import FARTHEST
from pages.charts.chart_theme import Chart, column_tooltips, layered
from pages.charts.colours import ATTENTION_COLOUR, LESS_TO_MORE, MARKED, SCORE_COLOUR
from pages.charts.encodings import offset_axis
from pages.kit.section import Choices, Figure, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.columns import title
from pages.words.numbers import count, offset_label
from pages.words.scope import say_here

_WIDTH, _CURVE, _ROW = 660, 150, 11
_COLUMNS = {
    KERNEL: (KERNEL, "attention_per_pair"),
    "sum": ("value", "attention"),
    "per_pair": ("value_per_pair", "attention_per_pair"),
    "centred": ("value_centred", "attention"),
}
"""Columns of score and attention, by counting."""
_SUMS = """
    select "offset", value, attention, value_centred, value_per_pair, attention_per_pair,
        n_sequences
    from query_key_correlation_mean where layer = $layer and head = $head order by "offset" """
_KERNEL = """
    select "offset", kernel, low as kernel_low, high as kernel_high
    from position_kernel where layer = $layer and head = $head order by "offset" """
_CORRELATIONS = f"""
    with unfolded as (
        select rank, value, unnest(correlation)::double as correlation,
            unnest(range(len(correlation))) - least({FARTHEST}, n_tokens - 1) as "offset"
        from query_key_wave join sequence using (seq) where layer = $layer and head = $head)
    select rank, any_value(value)::double as value, "offset"::int as "offset",
        avg(correlation) as correlation
    from unfolded group by rank, "offset" order by rank, "offset" """
"""Means over the kept texts that have the offset."""


def curves(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Score and attention of a head by offset, with intervals of kernels."""
    sums = rows_of(_SUMS, inquiry, choices)
    if inquiry.store.knows_offsets:
        sums = sums.merge(rows_of(_KERNEL, inquiry, choices), on="offset")
    counting = choices["counting"]
    names = ("kernel" if counting == KERNEL else "score", "given")
    counted = zip(names, _COLUMNS[counting], strict=True)
    return sums.assign(**{name: sums[column] for name, column in counted})


def peaks(frame: pd.DataFrame) -> tuple[int, int]:
    """Offsets with the highest score and with most attention, within the window of offsets."""
    near = frame[frame["offset"].abs() <= REACH].set_index("offset")
    score, given = near[[_score(frame), "given"]].idxmax().astype(int)
    return int(score), int(given)


def _score(frame: pd.DataFrame) -> str:
    return "score" if "score" in frame else "kernel"


def show(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the score of every offset above its attention, over the chosen offsets."""
    reach = choices["reach"]
    if view.store.is_causal:
        view.note(view.say("causal"))
    domain = (-reach, 0 if view.store.is_causal else reach)
    shown = frame[frame["offset"].between(*domain)]
    curves = zip((_score(frame), "given"), (SCORE_COLOUR, ATTENTION_COLOUR), strict=True)
    parts = [
        _curve(
            shown,
            curve,
            _across(domain, titled=curve == "given"),
            colour=colour,
            peak=peak,
            unit=say_here(f"unit_{curve}_{choices['counting']}"),
        )
        for (curve, colour), peak in zip(curves, peaks(frame), strict=True)
    ]
    above = _directions(view, choices, domain) if view.store.adds_positions else []
    ends = (f"{name}{end}" for name in (_score(frame), "given") for end in ("", "_low", "_high"))
    drawn = [name for name in ("offset", *ends, "n_sequences") if name in frame]
    view.figure(
        "correlations" if view.store.adds_positions else "kernel",
        pd.concat([shown[drawn], *(part.data for part in above)], ignore_index=True),
        alt.concat(*above, *parts, columns=1, spacing=10).resolve_scale(color="independent"),
        n=count(frame["n_sequences"].max()),
        window=REACH,
    )


def _across(domain: tuple[int, int], *, titled: bool = False) -> alt.X:
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
    return chart.properties(title=_heading(title(curve)), width=_WIDTH, height=_CURVE)


def _heading(name: str) -> alt.Title:
    return alt.Title(name, anchor="start", frame="group", offset=14)


def _directions(inquiry: Inquiry, choices: Choices, domain: tuple[int, int]) -> list[Any]:
    """Draw the correlation of queries and keys at every offset, the strongest direction on top."""
    cells = rows_of(_CORRELATIONS, inquiry, choices)
    cells = cells[cells["offset"].between(*domain)]
    if cells.empty:
        return []
    cells = cells.assign(left=cells["offset"] - 0.5, right=cells["offset"] + 0.5)
    x = _across(domain)
    x.shorthand = "left:Q"
    top = float(cells["correlation"].abs().max()) or 1.0
    bend = [-top, -top / 4, 0, top / 4, top]
    scale = alt.Scale(domain=bend, range=list(LESS_TO_MORE), interpolate="rgb")
    legend = alt.Legend(format=".2~f", gradientLength=150)
    chart = Chart(cells).mark_rect()
    chart = chart.encode(
        x=x,
        x2=alt.X2("right"),
        y=alt.Y("rank:O", title=title("rank"), axis=alt.Axis(values=[1, 5, 10, 15, 20])),
        color=alt.Color("correlation:Q", title="xcorr", scale=scale, legend=legend),
        tooltip=column_tooltips(cells, rank="d", value=".2f", offset="+d", correlation=".3f"),
    )
    named = _heading(say_here("correlations_directions"))
    height = _ROW * cells["rank"].nunique()
    return [chart.properties(title=named, width=_WIDTH, height=height)]
