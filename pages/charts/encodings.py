"""Channels of hand-made charts: names with their own looks, and axes of named places."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.words.columns import titled

_LAYERS = 12  # that a legend lists one by one
_SIGNED = "datum.value == 0 ? '0' : format(datum.value, '+d')"
_ENDS = "'\\\n\r\u2028\u2029"  # letters that mean something in a string of an expression


def named(
    column: str,
    looks: Mapping[str, Any],
    channel: Any = alt.Color,
    *,
    title: str | None = " ",
    **legend: Any,
) -> Any:
    """Colours, shapes or dashes of names, in their order, with a legend above the chart.

    `legend` holds further settings of the legend.
    """
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    shown = alt.Legend(orient="top", **legend)
    return channel(f"{column}:N", title=title, scale=scale, legend=shown)


def of_layers(frame: pd.DataFrame) -> alt.Color:
    """Colours of layers, from dark to light; a ramp in place of a long legend."""
    scheme = alt.SchemeParams(name="viridis", extent=[0.12, 0.9])
    is_long = frame["layer"].nunique() > _LAYERS
    return alt.Color(
        "layer:Q" if is_long else "layer:O",
        title=titled("layer", None),
        scale=alt.Scale(scheme=scheme),
        legend=alt.Legend(orient="top", format="d", symbolOpacity=1, gradientLength=190),
    )


def places(channel: Any, names: Sequence[str], *, title: str, **axis: Any) -> Any:
    """Axis of places from 0 with their names.

    `channel` is x or y; `axis` holds further settings of the axis.
    """
    scale = alt.Scale(domain=[-0.5, len(names) - 0.5], nice=False, zero=False)
    plain: dict[str, Any] = {"grid": False, "ticks": False, "labelAngle": 0}
    shown = alt.Axis(values=list(range(len(names))), labelExpr=name_at(names), **plain, **axis)
    field = "x:Q" if channel is alt.X else "y:Q"
    return channel(field, title=title, scale=scale, axis=shown)


def name_at(names: Sequence[str], *, first: int = 0) -> str:
    """Vega expression for the name of a place; names from any source stay text.

    Args:
        first: the number of the first place.
    """
    quoted = ", ".join(f"'{_harmless(name)}'" for name in names)
    return f"[{quoted}][datum.value - {first}]"


def _harmless(name: str) -> str:
    """Escape a name for a string of a Vega expression."""
    return "".join(f"\\u{ord(letter):04x}" if letter in _ENDS else letter for letter in name)


def offset_axis(**options: object) -> alt.Axis:
    """Axis of whole offsets with their signs."""
    settings = {"tickMinStep": 1, "labelAngle": 0, "labelFlush": False} | options
    return alt.Axis(labelExpr=_SIGNED, **settings)  # pyright: ignore[reportArgumentType]
