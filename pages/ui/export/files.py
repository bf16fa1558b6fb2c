"""A chart or a frame as files for a paper. Nothing remote is read: neither fonts nor data."""

import json
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

_WIDTH = 520
_PIXELS_PER_INCH = 300
_FONT = "Noto Sans, Noto Sans CJK JP, IPAexGothic, Helvetica, Arial, sans-serif"
_LOOK = {
    "background": "white",
    "font": _FONT,
    "padding": 8,
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
    "title": {"fontSize": 13, "anchor": "start"},
    "view": {"stroke": None},
    "axisX": {"gridColor": "#e4e4e4"},
    "axisY": {"gridColor": "#e4e4e4"},
}


def svg(chart: Any) -> str:
    return vl_convert.vegalite_to_svg(specification(chart), allowed_base_urls=[])


def png(chart: Any) -> bytes:
    return vl_convert.vegalite_to_png(
        specification(chart), ppi=_PIXELS_PER_INCH, allowed_base_urls=[]
    )


def pdf(chart: Any) -> bytes:
    return vl_convert.vegalite_to_pdf(specification(chart), allowed_base_urls=[])


def csv(frame: pd.DataFrame) -> bytes:
    """With a byte order mark, so that spreadsheets read Japanese."""
    return frame.to_csv(index=False).encode("utf-8-sig")


def latex(frame: pd.DataFrame, *, caption: str) -> str:
    """A table for LaTeX with booktabs; the caption is what the figure's title asks."""
    body = frame.to_latex(index=False, escape=True, float_format="%.4g", na_rep="--")
    told = frame.columns.name or ""
    return f"% {' '.join(caption.split())}{told}\n% \\usepackage{{booktabs}}\n{body}"


def specification(chart: Any) -> dict[str, Any]:
    """The chart in Vega-Lite with its data inside, a fixed width and the look of print."""
    specification = _inlined(chart).to_dict()
    if not {"hconcat", "vconcat", "concat", "facet", "repeat"} & set(specification):
        specification.setdefault("width", _WIDTH)
    specification["config"] = specification.get("config", {}) | _LOOK
    return specification


def _inlined(chart: Any) -> Any:
    """A copy with values in place of frames.

    Altair's own way goes through a registry that the whole process shares, and refuses frames of
    more than 5,000 rows.
    """
    chart = chart.copy(deep=False)
    if isinstance(chart.data, pd.DataFrame):
        chart.data = alt.InlineData(values=json.loads(chart.data.to_json(orient="records")))
    for parts in ("layer", "hconcat", "vconcat", "concat"):
        if isinstance(inner := getattr(chart, parts, None), list):
            setattr(chart, parts, [_inlined(each) for each in inner])
    if isinstance(chart, alt.FacetChart):
        chart.spec = _inlined(chart.spec)
    return chart
