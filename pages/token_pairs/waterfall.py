"""Steps of one layer that a pair's share goes through, from attention to the end of the layer."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.scopes import LayerOrder
from analysis.statistics.pairs import pair_occurrence
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import AMPLIFIED, ATTENUATED, NEUTRAL
from pages.ui.charts.encodings import name_at
from pages.ui.live import live_model as live
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.names import module_name, scope_name
from pages.ui.words.units import PERCENT, POINTS, in_unit, named_in

_HEIGHT, _BAR = 190, 34  # pixels
_COLOURS = {"start": NEUTRAL, "up": AMPLIFIED, "down": ATTENUATED}


def of_means(order: LayerOrder, changes: pd.DataFrame, layer: int) -> pd.DataFrame:
    """Mean changes of a pair in one layer, one after the other, from the share after attention.

    Args:
        changes: rows of `pair_delta.of_pair`.

    Returns:
        modules, scope (where the step ends), before, after, change; no row without a mean.
    """
    means = changes[changes["layer"] == layer].set_index("effect")["mean_delta"]
    effects = [effect for effect in order.effects if effect in means]
    after = np.cumsum([means[effect] for effect in effects])
    ends = [tuple(map(order.scopes.index, order.effects[effect])) for effect in effects]
    return pd.DataFrame(
        {
            "modules": [order.steps[first + 1 : last + 1] for first, last in ends],
            "scope": [order.scopes[last] for _, last in ends],
            "before": [0.0, *after[:-1]][: len(after)],
            "after": after,
            "change": [means[effect] for effect in effects],
        }
    )


def of_occurrence(inquiry: Inquiry, row: Any, layer: int) -> pd.DataFrame:
    """Shares of a source in its target at every scope of vectors, by a run of the model.

    Args:
        row: seq, source_pos and target_pos of the occurrence.

    Returns:
        As `of_means`; the first row starts at 0.
    """
    store, tokens = inquiry.store, inquiry.ask(pair_occurrence.sequence, seq=row["seq"])
    maps = live.layer_maps(store, live.of_file(tokens, None), layer=layer).scopes
    order = store.layer_order
    after = maps[1:, row["target_pos"], row["source_pos"]].astype("float64")
    before = np.concatenate([[0.0], after[:-1]])
    return pd.DataFrame(
        {
            "modules": [(step,) for step in order.steps[1:]],
            "scope": order.scopes[1:],
            "before": before,
            "after": after,
            "change": after - before,
        }
    )


def waterfall(view: View, steps: pd.DataFrame, *, is_live: bool, layer: int, **values: Any) -> None:
    """Draw a bar per step, from the share before it to the share after it."""
    if steps.empty:
        return
    kind, unit = ("live", PERCENT) if is_live else ("mean", POINTS)
    frame = in_unit(steps.drop(columns="modules"), unit, ["before", "after", "change"])
    modules = [" + ".join(map(module_name, modules)) for modules in steps["modules"]]
    view.figure(
        f"waterfall_{kind}",
        frame,
        _chart(frame.assign(modules=modules), unit, view.say(f"waterfall_axis_{kind}")),
        state=(layer, *values.values()),
        layer=layer,
        **values,
    )


def _chart(frame: pd.DataFrame, unit: str, axis: str) -> Any:
    before, after, change = (named_in(unit, name) for name in ("before", "after", "change"))
    signs = frame[change].map(lambda value: "up" if value >= 0 else "down")
    is_start = (frame.index == 0) & (unit == PERCENT)
    shown = frame.assign(
        place=range(len(frame)),
        step=frame["scope"].map(scope_name),
        sign=signs.mask(is_start, "start"),
    )
    lines = {"step": title("scope"), after: axis, change: title(change)}
    names = name_at(shown["modules"].tolist())
    base = Chart(shown).encode(
        x=alt.X(
            "place:O",
            title=None,
            axis=alt.Axis(labelExpr=names, labelAngle=0, labelOverlap=False, labelLimit=0),
        ),
        tooltip=tooltips(lines, shown, "+.2f"),
    )
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    bars = base.mark_bar(size=_BAR).encode(
        y=alt.Y(f"{before}:Q", title=axis, axis=alt.Axis(tickCount=4)),
        y2=alt.Y2(after),
        color=alt.Color("sign:N", scale=scale, legend=None),
    )
    text = base.mark_text(dy=-7, fontSize=12).encode(text=alt.Text(f"{change}:Q", format="+.2f"))
    numbers = [
        text.transform_filter(f"datum.sign {sign} 'down'").encode(y=alt.Y(f"{top}:Q", title=axis))
        for sign, top in (("===", before), ("!==", after))
    ]
    return layered(bars, *numbers, height=_HEIGHT)
