"""Map of all heads of one rule, and the sequences in which a quantity of one head is largest."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from analysis.statistics.relevance import relevance_map, relevance_summary
from analysis.statistics.relevance.relevance_summary import GAINS
from pages.relevance.choices import pick_head, pick_layer
from pages.relevance.maps.source import MEAN
from pages.relevance.quantities import axis_format, number_format, quantity_axis, quantity_name
from pages.relevance.rules import WITH_HEADS, rule_name
from pages.ui.charts.head_map import around_zero, from_zero, head_map
from pages.ui.choices.links import link
from pages.ui.choices.picker import choose
from pages.ui.view import View
from pages.ui.words.columns import title

_LIMIT = 20


def heads_and_extremes(view: View, heads: pd.DataFrame, quantity: str) -> None:
    """Draw the map of heads with a picker of its rule, then the sequences of the chosen head.

    Args:
        heads: rows rule, layer, head, mean, low, high of one quantity.
    """
    present = [name for name in WITH_HEADS if (heads["rule"] == name).any()]
    if not present:
        return
    view.write("subheader", view.say("heads_title"), anchor=False)
    rule = view.pick("head_rule", present, default=present[-2:][0], format=rule_name)
    place, n_heads = view.place("container"), int(view.store.run["n_heads"])
    layer = pick_layer(view, view.store.layers)
    head = pick_head(view, [MEAN, *map(str, range(1, n_heads + 1))])
    of_rule = heads[heads["rule"] == rule].astype({"head": "int64"})
    with place:
        _map(view, of_rule, quantity, rule, layer, head)
    _extremes(view, quantity, rule, layer, head)


def _map(view: View, frame: pd.DataFrame, quantity: str, rule: str, layer: int, head: str) -> None:
    means, gain = frame["mean"], quantity in GAINS
    chart = head_map(
        frame,
        "mean",
        view.say("gain") if gain else quantity_axis(quantity),
        around_zero(means) if gain else from_zero(float(means.max()), float(means.min())),
        format=number_format(quantity),
        legend_format=axis_format(quantity),
        marked=None if head == MEAN else (layer, int(head)),
    )
    view.figure(
        "head_map",
        frame,
        chart,
        state=f"{rule}_{quantity}_{layer}_{head}",
        click=partial(_choose, view),
        caption=view.say(f"head_map_caption_{'gain' if gain else 'share'}"),
        rule=rule_name(rule),
        quantity=quantity_name(quantity),
    )


def _choose(view: View, cell: Mapping[Any, Any]) -> None:
    """Choose the head and the layer that were clicked."""
    choose(view.key("layer"), int(cell["layer"]))
    choose(view.key("head"), str(int(cell["head"])))


def _extremes(view: View, quantity: str, rule: str, layer: int, head: str) -> None:
    """List the sequences with the largest values, with a link to the map of the selected one."""
    ranked = GAINS.get(quantity, quantity)  # a gain has no column: it is ranked by its share
    sequences = view.ask(
        relevance_summary.extremes,
        rule=rule,
        layer=layer,
        head=None if head == MEAN else int(head),
        quantity=ranked,
        limit=_LIMIT,
    )
    if sequences.empty:
        return view.nothing("no_value")
    event = view.table(
        "most",
        sequences,
        {"seq": None, "value": "%.4f"},
        state=f"{rule}_{layer}_{head}_{quantity}",
        settings={"text": st.column_config.TextColumn(title("text"), width="large")},
        options={
            "height": 248,
            "on_select": "rerun",
            "selection_mode": "single-row",
            "selection_default": {"selection": {"rows": [0]}},
        },
        quantity=quantity_name(ranked),
    )
    rows = [row for row in event["selection"]["rows"] if row < len(sequences)]
    seq = int(sequences["seq"].iloc[rows[0] if rows else 0])
    _to_map(view, seq, {"rule": rule, "layer": str(layer), "head": head})


def _to_map(view: View, seq: int, choices: dict[str, str]) -> None:
    """Draw a link to the map of the selected sequence, if it is stored."""
    if not view.store.holds(relevance_map.TABLE):
        return
    if seq not in set(view.ask(relevance_map.kept)["seq"]):
        view.write("caption", view.say("not_kept", seq=seq))
        return
    stem, name = ("map", "image") if view.store.shows_images else ("text", "seq")
    address = {"view": stem, name: str(seq), **choices}
    asked = {view.key(field): value for field, value in address.items()}
    view.draw(link, "relevance", view.say("to_map", seq=seq), **asked)
