"""Gaps in charts over layers, where a model has layers without attention."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import pandas as pd

from pages.services.open_file import Store
from pages.words.columns import title

_PARTS = ("layer", "hconcat", "vconcat", "concat")
_ROW = 16  # pixels
_STRETCH = "stretch"
_NUMBERED = ("layer", "depth")


def with_gaps(store: Store, chart: Any) -> Any:
    """Leave the places of layers without attention empty, and connect no others across them.

    A band around a line over layers becomes a rule at each of them. The chart is changed in place.
    """
    n_layers = int(store.run["n_layers"])
    n_gaps = n_layers - len(store.layers)
    if n_gaps == 0 or isinstance(chart, dict):
        return chart
    for part in nodes(chart):
        if isinstance(part.data, pd.DataFrame):
            part.data = _in_stretches(part.data)
        if isinstance(part, alt.Chart):
            _open(part, n_layers)
    for part in nodes(chart):
        if isinstance(getattr(part, "height", None), int) and any(map(_has_rows, nodes(part))):
            part.height += _ROW * n_gaps
    return chart


def nodes(chart: Any) -> Iterator[Any]:
    """Yield a chart and all charts within it."""
    yield chart
    for name in _PARTS:
        parts = getattr(chart, name, alt.Undefined)
        for part in parts if isinstance(parts, list) else ():
            yield from nodes(part)


def _in_stretches(data: pd.DataFrame) -> pd.DataFrame:
    """Add a column that is equal for layers, or depths, in a row."""
    for name in _NUMBERED:
        if name in data:
            numbers = sorted(data[name].dropna().unique())
            place = {number: int(number) - at for at, number in enumerate(numbers)}
            return data.assign(**{_STRETCH: data[name].map(place)})
    return data


def _channel(part: Any, name: str) -> Any:
    return getattr(getattr(part, "encoding", None), name, None)


def _has_rows(part: Any) -> bool:
    """Return True if a chart has a row for each layer."""
    return getattr(_channel(part, "y"), "shorthand", None) == "layer:O"


def _open(part: alt.Chart, n_layers: int) -> None:
    """Open the gaps of one chart without parts."""
    for channel in (_channel(part, "x"), _channel(part, "y")):
        if getattr(channel, "shorthand", None) == "layer:O":
            if channel["scale"] is alt.Undefined:
                channel["scale"] = alt.Scale()
            channel["scale"]["domain"] = list(range(1, n_layers + 1))
    across = _channel(part, "x")
    if not isinstance(across, alt.X) or not str(across["shorthand"]).endswith(":Q"):
        return
    if across["title"] not in [title(name) for name in _NUMBERED]:
        return
    mark = part.mark if isinstance(part.mark, alt.MarkDef) else alt.MarkDef(type=part.mark)
    if mark["type"] == "line":
        if mark["point"] in (alt.Undefined, False):
            mark["point"] = True
        given, stretch = part.encoding["detail"], alt.Detail(f"{_STRETCH}:N")
        part.encoding.detail = stretch if given is alt.Undefined else [given, stretch]
    elif mark["type"] == "area":
        mark = alt.MarkDef(type="rule", opacity=0.6, strokeWidth=2)
    part.mark = mark
