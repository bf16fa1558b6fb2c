"""Distance between every two heads, and the nearest neighbours of one head."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.heads import head_arrangement, head_distance
from pages.head_map.apart import DISTANCE, most_unlike, nats
from pages.head_map.plane_chart import MARK
from pages.head_map.tree import Tree
from pages.ui.charts.chart_theme import Chart, cell_selection, layered, tooltips
from pages.ui.charts.colours import MARKED
from pages.ui.head.bar import pick_head
from pages.ui.head.behaviours import behaviours_of_heads, has_habits
from pages.ui.head.choice import Head, head_name, head_with_most, to_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title

_NEAREST = 15
_SIDE = 640
_OVERLAP = 1.04  # a little more than a place, lest the ground shines through between cells


@section("distances", head_distance.TABLE, also=(head_arrangement.LINKAGE,))
def distances(view: View) -> None:
    has_tree = view.store.holds(head_arrangement.LINKAGE)
    weighing = view.pick_weighing()
    order = view.pick("order", ("layer", "alike")) if has_tree else "layer"
    frame = _placed(view, order, weighing)
    head = pick_head(view, default=most_unlike(view))
    chart = _chart(frame, by_layer=order == "layer", marked=head)
    view.finding(_finding(view, frame))
    drawn = {"state": (order, weighing, *head), "weighing": weighing}
    caption = view.say(f"caption_{order}")
    view.figure("matrix", frame, chart, click=to_head, caption=caption, **drawn)
    _nearest(view, weighing, head)


def _finding(view: View, frame: pd.DataFrame) -> str:
    """Name the head farthest from the others, with the median distance of two heads."""
    others = frame.query("layer != layer_b or head != head_b")
    if others.empty:
        return ""
    means = others.groupby(["layer", "head"])[[DISTANCE]].mean().reset_index()
    far, median = nats(means[DISTANCE].max()), nats(others[DISTANCE].median())
    head = head_name(*head_with_most(means, DISTANCE))
    return view.say("finding", head=head, far=far, median=median)


def _placed(inquiry: Inquiry, order: str, weighing: str) -> pd.DataFrame:
    """Every pair with its position in the matrix: layer, head and y of one head, x of the other."""
    frame = inquiry.ask(head_distance.distances, weighing=weighing)
    n_heads = int(inquiry.store.run["n_heads"])
    index = {layer: at for at, layer in enumerate(inquiry.store.layers)}
    y, x = (
        frame[f"layer_{side}"].map(index) * n_heads + frame[f"head_{side}"] - 1 for side in "ab"
    )
    if order == "alike":
        leaves = Tree(inquiry.ask(head_arrangement.steps, weighing=weighing)).leaves
        place = {head: at for at, head in enumerate(leaves)}
        y, x = y.map(place), x.map(place)
    return frame.rename(columns={"layer_a": "layer", "head_a": "head"}).assign(y=y, x=x)


def _nearest(view: View, weighing: str, head: Head) -> None:
    """Tabulate the heads that attend most like the given one, with their main habit."""
    layer, number = head
    frame = view.ask(
        head_distance.nearest, layer=layer, head=number, weighing=weighing, limit=_NEAREST
    )
    columns = ["layer", "head", DISTANCE]
    if has_habits(view.store):
        habits = behaviours_of_heads(view, weighing=weighing)
        frame = frame.merge(habits, on=["layer", "head"], how="left")
        columns.append("name")
    options = {"height": "content", "placeholder": None}
    state = (*head, weighing)
    view.table("nearest", frame, columns, state=state, options=options, head=head_name(*head))


def _chart(frame: pd.DataFrame, *, by_layer: bool, marked: Head) -> Any:
    """Draw the distance matrix; a click on a cell selects the head of its row.

    Args:
        by_layer: whether heads are ordered by layer; layers are then named at the edges.
        marked: the head whose row is framed.
    """
    n = int(frame["y"].max()) + 1
    name = title("heads_by_layer" if by_layer else "heads_alike")
    numbers = sorted(frame["layer"].unique().tolist())
    step = n / len(numbers)
    axis = alt.Axis(
        labels=by_layer,
        values=[step * (place + 0.5) for place in range(len(numbers))],
        labelExpr=f"{numbers}[floor(datum.value / {step})]",
        labelAngle=0,
        ticks=False,
        grid=False,
    )
    scale = {"domain": [0, n], "nice": False, "zero": False}
    x = alt.X("x:Q", title=name, axis=axis, scale=alt.Scale(**scale))
    y = alt.Y("y:Q", title=name, axis=axis, scale=alt.Scale(**scale, reverse=True))
    shown = frame.assign(x2=frame["x"] + _OVERLAP, y2=frame["y"] + _OVERLAP)
    titles: dict[str | None, str | None] = {"layer": title("layer_a"), "head": title("head_a")}
    titles |= {name: title(name) for name in ("layer_b", "head_b", DISTANCE)}
    colour = alt.Color(
        f"{DISTANCE}:Q",
        title=title("nats"),
        scale=alt.Scale(scheme="viridis", domainMin=0, reverse=True),
        legend=alt.Legend(format="~g", gradientLength=220, orient="right"),
    )
    cells = (
        Chart(shown)
        .mark_rect(cursor="pointer")
        .encode(
            x=x,
            y=y,
            x2=alt.X2("x2"),
            y2=alt.Y2("y2"),
            color=colour,
            tooltip=tooltips(titles, shown, ".3f"),
        )
        .add_params(cell_selection(MARK, "layer", "head"))
    )
    row = shown[(shown["layer"] == marked[0]) & (shown["head"] == marked[1])].head(1)
    ring = (
        Chart(row.assign(x=0, x2=n, y2=row["y"] + 1))
        .mark_rect(filled=False, stroke=MARKED, strokeWidth=2, aria=False, tooltip=False)
        .encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"))
    )
    return layered(cells, ring, height=_SIDE)
