"""Pairs below each other, each with its name, its change and its interval, to be clicked."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.token_pairs.lists import is_clear, with_pair_names
from pages.ui.charts.colours import MARKED, ZERO
from pages.ui.charts.look import cell_selection, coloured, tooltips
from pages.ui.charts.points import POINT
from pages.ui.words.columns import title
from pages.ui.words.interval import with_interval
from pages.ui.words.lines import width_of
from pages.ui.words.numbers import count

_ROOM = 1.6  # how far an interval may reach beyond the largest change before it is cut off
_FAINT, _FAINT_NAME = 0.4, 0.65
_ROW, _AROUND, _OF_LEGEND = 17, 66, 20  # pixels
_LETTER, _GAP = 6.6, 10  # pixels
_TOLD = ("pair", "interval", "n", "n_sequences", "pmi", "relation")


def reach_of(frame: pd.DataFrame) -> float:
    """How far from 0, in percentage points, charts show the changes of pairs and intervals."""
    largest = 100 * float(frame["mean_delta"].abs().max()) if len(frame) else 0.0
    return _ROOM * (largest or 1.0)


def pair_rows(frame: pd.DataFrame, chosen: Mapping[str, str], reach: float) -> Any:
    """A row per pair in its order, coloured by relation, faint unless clear of 0; a click anywhere
    on a row gives back its pair.

    Args:
        frame: rows of `pair_delta.browse`.
        chosen: source and target of the pair whose row is marked.
        reach: of `reach_of`; an interval that goes further is cut off.
    """
    shown = _told(frame, chosen)
    n_room = _LETTER * shown["occurrences"].map(len).max() + _GAP
    room = _LETTER * shown["pair"].map(width_of).max() + n_room + _GAP
    shown, colour, relations = coloured(shown, "relation", None)
    colour.legend = alt.Legend(orient="bottom", columns=1, symbolType="circle", labelLimit=0)
    ends = shown[["mean_delta", "low", "high"]].clip(-reach, reach)
    domain = [min(0.0, float(ends.min().min())), max(0.0, float(ends.max().max()))]
    axis = alt.Axis(labels=False, ticks=False, domain=False, minExtent=room, maxExtent=room)
    base = alt.Chart(shown).encode(
        y=alt.Y("place:O", title=None, axis=axis),
        opacity=_if_clear(_FAINT),
    )
    x = alt.X(
        "mean_delta:Q",
        title=title("mean_delta"),
        scale=alt.Scale(domain=domain, nice=False, padding=6),
        axis=alt.Axis(tickCount=5, format=".3~g"),
    )
    texts = base.encode(opacity=_if_clear(_FAINT_NAME))
    names = texts.mark_text(align="left", x=-room, fontSize=12).encode(text="pair:N")
    numbers = texts.mark_text(align="right", x=-_GAP, fontSize=12).encode(text="occurrences:N")
    rules = base.mark_rule(clip=True, strokeWidth=1.5).encode(
        x=alt.X("low:Q", title=title("mean_delta")), x2="high", color=colour
    )
    dots = base.mark_circle(size=55, opacity=1).encode(x=x, color=colour)
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=ZERO).encode(x="zero:Q")
    rows = (
        alt.Chart(shown)
        .mark_rect(x=-room, x2="width", fill=MARKED, cursor="pointer")
        .encode(
            y=alt.Y("place:O", title=None, axis=axis),
            fillOpacity=alt.condition(alt.datum["chosen"], alt.value(0.18), alt.value(0)),
            tooltip=tooltips(dict.fromkeys(_TOLD), shown, "+.2f"),
        )
        .add_params(cell_selection(POINT, "source", "target"))
    )
    height = _ROW * len(shown) + _AROUND + _OF_LEGEND * len(relations)
    return alt.layer(zero, rules, dots, names, numbers, rows).properties(height=height)


def _if_clear(faint: float) -> Any:
    return alt.condition(alt.datum["clear"], alt.value(1.0), alt.value(faint))


def _told(frame: pd.DataFrame, chosen: Mapping[str, str]) -> pd.DataFrame:
    """The frame in percentage points, with all that a row tells."""
    shown = with_pair_names(frame).assign(clear=is_clear(frame))
    shown["chosen"] = (shown[list(chosen)] == pd.Series(chosen)).all(axis=1)
    shown["occurrences"] = [f"n {count(each)}" for each in shown["n"]]
    numbers = zip(shown["mean_delta"], shown["low"], shown["high"], strict=True)
    shown["interval"] = [with_interval(*each, "{:+.2f}".format) for each in numbers]
    return shown
