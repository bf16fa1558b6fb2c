"""Pairs of one text that a module amplifies and attenuates most, with their corpus means."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.pairs import pair_delta, pair_occurrence
from pages.sequences.changes import LEAST, changes, extremes, with_distance
from pages.sequences.subject import Subject, pick_subject
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import AMPLIFIED, ATTENUATED, NEUTRAL, ZERO
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import effect_name
from pages.ui.words.numbers import count, percent, points
from pages.ui.words.say import plain
from pages.ui.words.units import POINTS, in_unit, named_in

_LISTED, _LISTED_FAR = 10, 100
_FAR = 2.0  # standard deviations
_ROW, _AROUND = 30, 60  # pixels
_DIRECTIONS = {"amplified": AMPLIFIED, "attenuated": ATTENUATED}
_DRAWN = ("delta", "mean_delta", "least")  # by a mark each, if anything is known of them
_CHANGES = ("delta", "mean_delta", "std_delta", "low", "high", "least", "most")
_HERE, _MEAN, _STD, _LOW, _HIGH, _LEAST, _MOST = (named_in(POINTS, name) for name in _CHANGES)
_TOLD = (_HERE, _MEAN, _LOW, _HIGH)


@section("pairs", pair_delta.TABLE, also=(pair_occurrence.TABLE,))
def pairs(view: View) -> None:
    subject = pick_subject(view)
    layer = view.pick("layer", view.store.layers, kind="select")
    effect = view.pick("effect", list(view.store.layer_order.effects), default="ff", kind="select")
    special = view.pick("special", ("in", "out")) == "in"
    changed = with_distance(changes(view, subject, layer=layer, effect=effect))
    if not special:
        changed = changed[~changed["special"]]
    if changed.empty:
        view.end("nothing" if subject.reading else "none_kept")
    state = (subject.key, layer, effect, special)
    step = {"layer": layer, "effect": effect_name(effect)}
    view.finding(_finding(view, changed, **step))
    window = view.store.windows[layer]
    places = view.say(f"places_{'all' if window is None else 'windowed'}", window=window)
    view.note(view.say("chance", places=places))
    for (direction, colour), place in zip(_DIRECTIONS.items(), view.columns(2), strict=True):
        listed = extremes(changed, amplified=direction == "amplified", n=_LISTED)
        with place:
            if listed.empty:
                view.nothing(f"none_{direction}")
                continue
            frame = _shown(listed)
            drawn = [name for name in _DRAWN if frame[named_in(POINTS, name)].notna().any()]
            words = [*(f"caption_{name}" for name in drawn), *([] if subject.reading else ["kept"])]
            view.figure(
                direction,
                frame,
                _chart(view, frame, colour),
                state=state,
                caption=" ".join(map(view.say, words)),
                **step,
            )
    _table(view, changed, subject, state=state, **step)


def _finding(view: View, changed: pd.DataFrame, *, layer: int, effect: str) -> str:
    """Name the largest change and its corpus mean, and count the pairs far from theirs."""
    row = changed.iloc[int(changed["delta"].abs().argmax())]
    new = "finding_new" if view.store.windows[layer] is None else "finding_new_windowed"
    word = new if pd.isna(row["mean_delta"]) else "finding"
    most = view.say(
        word,
        layer=layer,
        effect=effect,
        pair=plain(row["pair"]),
        delta=points(row["delta"]),
        mean=row_with_interval(row, "mean_delta", points),
    )
    distances = changed["distance"].dropna()
    if distances.empty:
        return most
    far = percent(float((distances.abs() > _FAR).mean()))
    n = count(len(distances))
    return f"{most} {view.say('finding_far', n=n, far=far, least=LEAST, times=f'{_FAR:g}')}"


def _shown(listed: pd.DataFrame) -> pd.DataFrame:
    """Convert changes to percentage points; add pair names and the spread of single occurrences."""
    spread = listed["std_delta"].where(listed["n"] >= LEAST)
    ends = {"least": listed["mean_delta"] - spread, "most": listed["mean_delta"] + spread}
    frame = in_unit(listed.assign(**ends), POINTS, _CHANGES)
    return frame[["pair", *_TOLD, _LEAST, _MOST, "distance", "n"]]


def _chart(view: View, frame: pd.DataFrame, colour: str) -> Any:
    """Draw a row per pair: a dot for this text, a line for the corpus mean with its interval.

    A band shows the spread of single occurrences.
    """
    columns = dict.fromkeys(("pair", *_TOLD, "distance", "n"))
    order = frame["pair"].tolist()
    base = Chart(frame).encode(
        y=alt.Y("pair:N", title=None, sort=order, axis=alt.Axis(labelLimit=190)),
        tooltip=tooltips(columns, frame, "+.2f"),
    )
    x = alt.X(f"{_HERE}:Q", title=title(_HERE), axis=alt.Axis(tickCount=5, format=".3~g"))
    band = base.mark_bar(color=NEUTRAL, opacity=0.25, height=14)
    rules = base.mark_rule(color=NEUTRAL, strokeWidth=3)
    ticks = base.mark_tick(color=NEUTRAL, thickness=2.5, size=16)
    dots = base.mark_circle(color=colour, size=90, opacity=1)
    zero = Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=ZERO, strokeDash=[4, 3])
    return layered(
        zero.encode(x=alt.X("zero:Q")),
        band.encode(x=alt.X(f"{_LEAST}:Q", title=title(_HERE)), x2=alt.X2(_MOST)),
        rules.encode(x=alt.X(f"{_LOW}:Q", title=title(_HERE)), x2=alt.X2(_HIGH)),
        ticks.encode(x=alt.X(f"{_MEAN}:Q", title=title(_HERE))),
        dots.encode(x=x),
        height=_ROW * len(frame) + _AROUND,
    )


def _table(view: View, changed: pd.DataFrame, subject: Subject, **values: Any) -> None:
    """Tabulate the pairs whose change is farthest from their corpus mean."""
    far = changed.dropna(subset="distance")
    far = far.sort_values("distance", key=abs, ascending=False, kind="stable")
    if far.empty:
        return
    shown = in_unit(far.head(_LISTED_FAR), POINTS, _CHANGES)
    columns = {
        **dict.fromkeys(("source", "target")),
        **dict.fromkeys(_TOLD, "%+.2f"),
        _STD: "%.2f",
        "distance": "%+.1f",
        "n": None,
        "n_sequences": None,
    }
    view.table("far", shown, columns, options={"height": 300}, least=LEAST, **values)
