"""Error of the sum of each layer's parts, with the largest error allowed."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.mixing.completeness import WORST
from pages.charts.chart_theme import Chart, layered
from pages.charts.colours import SERIES_COLOURS
from pages.kit.section import rows_of
from pages.services.inquiry import Inquiry
from pages.words.say import say

_PARTS = ("block", "layer")
_WORST = f"select * exclude attention_sum_error from ({WORST}) order by error desc, part"
_FLOOR = 1e-9
_COLOURS = (SERIES_COLOURS[0], SERIES_COLOURS[3])


def worst_errors(inquiry: Inquiry) -> pd.DataFrame:
    """Largest error of every layer and part: layer, error, percentile_99, seq, pos, part; NaN
    errors first, then the largest."""
    frame = rows_of(_WORST, inquiry, {})
    return frame.assign(part=[say(f"sound.part_{part}") for part in frame["part"]])


def error_chart(errors: pd.DataFrame, limit: float) -> Any:
    """Draw rows of `worst_errors` as points over layers, with a line at the limit."""
    low, high = (
        min(errors["error"].clip(lower=_FLOOR).min(), limit),
        max(errors["error"].max(), limit),
    )
    scale = alt.Scale(type="log", domain=[low / 3, high * 5], clamp=True)
    axis = alt.Axis(format=".0e", values=[10.0**power for power in range(-9, 1)])
    y = alt.Y("error:Q", title=say("sound.axis"), scale=scale, axis=axis)
    names = (say(f"sound.part_{part}") for part in _PARTS)
    present = [name for name in names if name in set(errors["part"])]
    colour = alt.Color(
        "part:N",
        title=" ",
        scale=alt.Scale(domain=present, range=list(_COLOURS)),
        legend=alt.Legend(orient="top", symbolType="circle"),
    )
    points = (
        Chart(errors)
        .mark_point(size=70, filled=True, opacity=1)
        .encode(
            x=alt.X("layer:O", title=say("axis.layer"), axis=alt.Axis(labelAngle=0)),
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("layer:O", title=say("axis.layer")),
                alt.Tooltip("part:N", title=say("sound.part")),
                alt.Tooltip("error:Q", title=say("sound.axis"), format=".1e"),
                alt.Tooltip("percentile_99:Q", title=say("sound.percentile"), format=".1e"),
                alt.Tooltip("seq:O", title=say("sound.worst_sequence")),
                alt.Tooltip("pos:O", title=say("sound.worst_position")),
            ],
        )
    )
    edge = pd.DataFrame({"limit": [limit], "label": [say("sound.limit")]})
    at = alt.Y("limit:Q")
    line = Chart(edge).mark_rule(strokeDash=[6, 4], color=SERIES_COLOURS[1]).encode(y=at)
    label = (
        Chart(edge)
        .mark_text(align="left", dy=-8, dx=4, fontSize=12)
        .encode(y=at, x=alt.XValue(0), text=alt.Text("label:N"))
    )
    return layered(points, line, label, height=320)
