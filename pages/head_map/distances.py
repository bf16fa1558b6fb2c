"""How far every head is from every other, and which are nearest to one of them."""

import pandas as pd

from analysis.tables.heads import head_distance, head_linkage
from pages.head_map.apart import DISTANCE, most_unlike
from pages.head_map.matrix_chart import matrix_chart
from pages.head_map.tree import Tree
from pages.ui.head.behaviours import behaviours_of_heads, has_habits
from pages.ui.head.below import head_below
from pages.ui.head.card import head_card
from pages.ui.head.choice import Head, head_name
from pages.ui.page import section
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.weighing import pick_weighing, weighed

_NEAREST = 15


@section("distances", head_distance.TABLE, also=(head_linkage.TABLE,))
def distances(view: View) -> None:
    has_tree = bool(open_store().rows.get(head_linkage.TABLE.name))
    with view.toolbar():
        weighing = pick_weighing(view.prefix)
        order = view.pick("order", ("layer", "alike")) if has_tree else "layer"
    frame = _placed(order, weighing)
    with head_below(view, "matrix", default=most_unlike()) as head:
        chart = matrix_chart(frame, by_layer=order == "layer", marked=head)
        caption = weighed(weighing, view.say(f"caption_{order}"))
        state = (order, weighing, *head)
        view.figure("matrix", frame, chart, state=state, click=True, caption=caption)
    _nearest(view, weighing, head)
    head_card(layer=head[0], head=head[1])


def _placed(order: str, weighing: str) -> pd.DataFrame:
    """Every pair with the places of its heads: layer, head and y of one, x of the other."""
    frame = ask(head_distance.distances, weighing=weighing)
    n_heads = int(open_store().run["n_heads"])
    y, x = ((frame[f"layer_{side}"] - 1) * n_heads + frame[f"head_{side}"] - 1 for side in "ab")
    if order == "alike":
        leaves = Tree(ask(head_linkage.steps, weighing=weighing)).leaves
        place = {head: at for at, head in enumerate(leaves)}
        y, x = y.map(place), x.map(place)
    return frame.rename(columns={"layer_a": "layer", "head_a": "head"}).assign(y=y, x=x)


def _nearest(view: View, weighing: str, head: Head) -> None:
    """The heads that attend most like one, with what they mostly do."""
    layer, number = head
    place = {"layer": layer, "head": number, "weighing": weighing}
    frame = ask(head_distance.nearest, **place, limit=_NEAREST)
    columns = ["layer", "head", DISTANCE]
    if has_habits():
        habits = behaviours_of_heads(weighing=weighing)
        frame = frame.merge(habits, on=["layer", "head"], how="left")
        columns.append("name")
    options = {"height": "content", "placeholder": None}
    state = (*head, weighing)
    view.table("nearest", frame, columns, state=state, options=options, head=head_name(*head))
