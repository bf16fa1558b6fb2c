"""Charts of pairs: rows of a list, the first ones of every layer, points by PMI."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, cell_selection, coloured, layered, tooltips
from pages.charts.colours import AMPLIFIED, ATTENUATED, MARKED, NEUTRAL, ZERO
from pages.charts.plots import POINT
from pages.kit.section import Choices
from pages.token_pairs.lists import CHANGE, HIGH, LOW, PAIR, PLACES
from pages.words.columns import title
from pages.words.interval import is_clear, with_interval
from pages.words.lines import width_of
from pages.words.numbers import change, count
from pages.words.units import POINTS, named_in

_INTERVAL = named_in(POINTS, "interval")
_TOOLTIP = ("pair", _INTERVAL, "n", "n_sequences", "pmi", "relation")
_ROOM, _LETTER, _GAP = 1.6, 6.6, 10  # of the axis as a multiple of the largest change; pixels
_FAINT, _FAINT_WORDS = 0.4, 0.65
_STRONGEST = 0x80  # of 0xff, how strong the ground of a cell may be
_BAR = 4  # pixels across


def pair_rows(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw a row per pair with its count and mean, faint unless its interval leaves out 0.

    A click anywhere on a row selects its pair. An interval that goes far is cut off.
    """
    shown = _with_intervals(frame)
    shown["chosen"] = (shown[[*PAIR]] == [choices[side] for side in PAIR]).all(axis=1)
    columns = {"mean": shown[CHANGE].map(change), "occurrences": "n " + shown["n"].map(count)}
    shown, room = shown.assign(**columns), 0.0
    texts: list[tuple[str, Any, float]] = []
    for column in columns:
        texts.append((column, "right", -room - _GAP))
        room += _LETTER * shown[column].map(len).max() + _GAP
    room += _LETTER * shown["pair"].map(width_of).max() + _GAP
    texts.append(("pair", "left", -room))
    shown, colour, relations = coloured(shown, "relation", None)
    colour.legend = alt.Legend(orient="bottom", columns=1, symbolType="circle")
    reach = _ROOM * (float(frame[CHANGE].abs().max()) or 1.0)
    ends = shown[[CHANGE, LOW, HIGH]].clip(-reach, reach)
    domain = [min(0.0, float(ends.min().min())), max(0.0, float(ends.max().max()))]
    axis = alt.Axis(labels=False, ticks=False, domain=False, minExtent=room, maxExtent=room)
    plain = Chart(shown).encode(y=alt.Y("place:O", title=None, axis=axis))
    base, written = (plain.encode(opacity=_if_clear(faint)) for faint in (_FAINT, _FAINT_WORDS))
    scale = alt.Scale(domain=domain, nice=False, padding=6)
    ticks = alt.Axis(tickCount=5, format=".3~g")
    ends = alt.X(f"{LOW}:Q", title=title(CHANGE))
    x = alt.X(f"{CHANGE}:Q", title=title(CHANGE), scale=scale, axis=ticks)
    rules = base.mark_rule(clip=True, strokeWidth=1.5)
    is_chosen = alt.condition(alt.datum["chosen"], alt.value(0.18), alt.value(0))
    rows = plain.mark_rect(x=-room, x2="width", fill=MARKED, cursor="pointer").encode(
        fillOpacity=alt.FillOpacityValue(**is_chosen),
        tooltip=tooltips(dict.fromkeys(_TOOLTIP), shown, "+.2f"),
    )
    return layered(
        Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=ZERO).encode(x=alt.X("zero:Q")),
        rules.encode(x=ends, x2=alt.X2(HIGH), color=colour),
        base.mark_circle(size=55, opacity=1).encode(x=x, color=colour),
        *(
            written.mark_text(align=align, x=x, fontSize=12).encode(text=alt.Text(f"{column}:N"))
            for column, align, x in texts
        ),
        rows.add_params(cell_selection(POINT, *PAIR)),
        height=17 * len(shown) + 66 + 20 * len(relations),
    )


def _if_clear(faint: float) -> Any:
    return alt.OpacityValue(**alt.condition(alt.datum["clear"], alt.value(1.0), alt.value(faint)))


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """Add whether intervals leave out 0, and changes with their intervals as text."""
    numbers = zip(frame[CHANGE], frame[LOW], frame[HIGH], strict=True)
    texts = [with_interval(*row, "{:+.2f}".format) for row in numbers]
    return frame.assign(clear=is_clear(frame[LOW], frame[HIGH]), **{_INTERVAL: texts})


def grid(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw a row of pairs per layer, shaded by their changes, with a bar for their relations.

    Printed pairs have no numbers: those that are not `in_both` are faint.
    """
    words = [f"{row.source} →\n{row.target}" for row in frame.itertuples()]
    if is_printed := "in_both" in frame:
        shown, colour = frame.assign(clear=frame["in_both"], ground=f"{NEUTRAL}40"), None
        height, up, of_pair = (36, 40), -7, ("layer", "place", *PAIR)
    else:
        numbers = zip(words, frame[CHANGE], frame["n"], strict=True)
        words = [f"{word}\n{change(delta)} · n {count(n)}" for word, delta, n in numbers]
        strength = _STRONGEST * (frame[CHANGE].abs() / frame["top"]).fillna(0.0) ** 0.5
        inks = frame[CHANGE].gt(0).map({True: AMPLIFIED, False: ATTENUATED})
        grounds = inks + strength.round().astype(int).map("{:02x}".format)
        shown = _with_intervals(frame).assign(ground=grounds)
        shown, colour, _ = coloured(shown, "relation", None)
        height, up, of_pair = (54, 100), -14, ("layer", *_TOOLTIP)
    shown = shown.assign(lines=words)
    places = alt.Scale(domain=[*range(1, PLACES + 1)], paddingInner=0.04, paddingOuter=0.02)
    x = {"title": None, "scale": places, "axis": alt.Axis(orient="top", labelAngle=0)}
    rows = alt.Scale(paddingInner=0.06, paddingOuter=0.03)
    base = Chart(shown).encode(
        x=alt.X("place:O", **x), y=alt.Y("layer:O", title=title("layer"), scale=rows)
    )
    cells = base.mark_rect(cursor="default" if is_printed else "pointer").encode(
        color=alt.Color("ground:N", scale=None),
        opacity=_if_clear(_FAINT),
        tooltip=tooltips(dict.fromkeys(of_pair), shown, "+.2f"),
    )
    left = alt.X("place:O", bandPosition=0, **x)
    look = {"align": "left", "baseline": "middle", "fontSize": 12, "lineBreak": "\n"}
    limit = alt.ExprRef(f"width / {PLACES} - {_BAR + 4}")
    written = base.mark_text(dx=_BAR + 2, dy=up, limit=limit, **look).encode(
        x=left, text=alt.Text("lines:N"), opacity=_if_clear(_FAINT_WORDS)
    )
    parts = [cells, written]
    if colour is not None:
        fill = alt.Fill("relation:N", title=None, scale=colour["scale"], legend=colour["legend"])
        bars = base.mark_bar(width=_BAR, align="left").encode(x=left, fill=fill)
        parts = [cells.add_params(cell_selection(POINT, "layer", *PAIR)), bars, written]
    return layered(*parts, height=height[0] * shown["layer"].nunique() + height[1])
