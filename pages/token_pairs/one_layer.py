"""One layer: the pairs that a step amplifies and attenuates most, with how sure that is."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs.choices import PAIR, choices, state_of
from pages.token_pairs.lists import (
    COLUMNS,
    DIRECTIONS,
    change,
    in_points,
    is_clear,
    pair_name,
    top_pairs,
    with_pair_names,
)
from pages.ui.charts.colours import EDGES, ZERO
from pages.ui.charts.look import cell_selection, coloured, tooltips
from pages.ui.charts.points import POINT
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import with_interval
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import plain

_ROOM = 1.6  # how far an interval may reach beyond the longest bar before it is cut off
_BACK = 0.5
_FAINT = 0.35
_HEIGHT = 24
_AROUND = 82  # axis below the bars
_OF_LEGEND = 18


@section("layer", pair_delta.TABLE, pair.TABLE)
def one_layer(view: View) -> None:
    chosen = choices(view, "layer", "effect", "rank", "clear", "min_count", "special")
    frame, state = top_pairs(**chosen), state_of(chosen)
    if frame.empty:
        st.info(view.say("none_clear" if chosen["clear"] else "none", least=chosen["min_count"]))
        return
    place = {"layer": chosen["layer"], "effect": effect_name(chosen["effect"])}
    lists = {each: frame[frame["direction"] == each] for each in DIRECTIONS}
    view.finding(" ".join(_sentence(view, *each) for each in lists.items()))
    for column, (direction, part) in zip(view.columns(2), lists.items(), strict=True):
        with column:
            if part.empty:
                st.info(view.say(f"no_{direction}{'_clear' if chosen['clear'] else ''}", **place))
                continue
            order = view.say(f"order_{chosen['rank']}")
            name, caption = f"bars_{direction}", view.say("bars_caption", order=order)
            bars = pair_bars(part)
            view.figure(name, part, bars, state=state, click=True, caption=caption, **place)
    view.table(
        "layer_table",
        in_points(frame),
        COLUMNS,
        state=state,
        click=PAIR,
        options={"height": "content"},
        **place,
    )


def _sentence(view: View, direction: str, frame: pd.DataFrame) -> str:
    """The first pair of a list, how many are clear of 0, and what most have in common."""
    if frame.empty:
        return ""
    first, counts = frame.iloc[0], frame["relation"].value_counts().sort_index()
    return view.say(
        f"finding_{direction}",
        pair=plain(pair_name(first["source"], first["target"])),
        change=change(first),
        clear=int(is_clear(frame).sum()),
        total=len(frame),
        relation=relation_name(str(counts.idxmax())),
        share=percent(counts.max() / len(frame)),
    )


def pair_bars(frame: pd.DataFrame) -> Any:
    """One bar per row in its order, coloured by relation; a click gives back its pair.

    Bars of pairs that are not clear of 0 are faint.

    An interval of two sequences can be ten times as wide as the bar is long: it is cut off, so that
    the bars can be compared.

    Args:
        frame: rows of `pair_delta.top`, all amplified or all attenuated.
    """
    shown = with_pair_names(frame).assign(clear=is_clear(frame))
    shown["name"] = [
        f"{n}  (n {count(each)})" for n, each in zip(shown["pair"], shown["n"], strict=True)
    ]
    numbers = zip(shown["mean_delta"], shown["low"], shown["high"], strict=True)
    shown["interval"] = [with_interval(*each, "{:+.2f}".format) for each in numbers]
    delta, names = title("mean_delta"), ("pair", "interval", "n", "n_sequences", "pmi", "relation")
    shown, colour, relations = coloured(shown, "relation", None)
    base = alt.Chart(shown).encode(
        y=alt.Y(
            "name:N",
            title=None,
            sort=shown["name"].tolist(),
            axis=alt.Axis(labelLimit=190, labelOverlap=False, ticks=False, domain=False),
        ),
        tooltip=tooltips(dict.fromkeys(names), shown, "+.2f"),
    )
    x = alt.X(
        "mean_delta:Q",
        title=delta,
        scale=alt.Scale(domain=_domain(shown), nice=False),
        axis=alt.Axis(tickCount=5, format=".3~g"),
    )
    colour.legend = alt.Legend(orient="bottom", columns=1, symbolType="square", labelLimit=260)
    opacity = alt.condition(alt.datum["clear"], alt.value(1.0), alt.value(_FAINT))
    bars = base.mark_bar(cornerRadiusEnd=1, cursor="pointer")
    bars = bars.encode(x=x, color=colour, opacity=opacity)
    ends = {"x": alt.X("low:Q", title=delta), "x2": alt.X2("high")}
    rules = [
        base.mark_rule(color=line, strokeWidth=width, clip=True).encode(**ends)
        for line, width in zip(EDGES, (3.0, 1.2), strict=True)
    ]
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=ZERO).encode(x="zero:Q")
    height = _HEIGHT * len(shown) + _AROUND + _OF_LEGEND * len(relations)
    bars = bars.add_params(cell_selection(POINT, *PAIR))
    return alt.layer(bars, *rules, zero).properties(height=height)


def _domain(shown: pd.DataFrame) -> list[float]:
    """From before zero to beyond the longest bar, whatever lies further."""
    longest = float(shown["mean_delta"].abs().max()) or 1.0
    sign = 1 if shown["mean_delta"].iloc[0] > 0 else -1
    ends = sign * shown[["low", "high"]].to_numpy()
    ends = ends[np.isfinite(ends)]
    back = min(0.0, max(ends.min(), -_BACK * longest)) if ends.size else 0.0
    front = max(longest, min(ends.max(), _ROOM * longest)) if ends.size else longest
    return sorted([float(sign * back), float(sign * front * 1.02)])
