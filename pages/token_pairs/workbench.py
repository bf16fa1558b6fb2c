"""Pairs of a layer under conditions, and beside them the one that is looked at."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta, pair_occurrence
from pages.token_pairs.choices import PAIR, choices, state_of
from pages.token_pairs.chosen_pair import chosen_pair
from pages.token_pairs.lists import COLUMNS, in_points, is_clear
from pages.token_pairs.pair_rows import pair_rows, reach_of
from pages.ui.page import section
from pages.ui.store.chosen import ask, layer_order, layers
from pages.ui.view import View
from pages.ui.words.names import effect_name
from pages.ui.words.numbers import count
from pages.ui.words.say import plain

_LIMIT, ROWS = 1_000, 24
_BESIDE_A_PAIR, _BESIDE_A_LIST = (9, 11), (1, 1)


@section("workbench", pair_delta.TABLE, pair.TABLE, pair_occurrence.TABLE)
def workbench(view: View) -> None:
    chosen = choices(view, "layer", "order", "min_count", "clear", "special")
    chosen |= choices(view, "effect", "rank", "relation", "source", "target", "text")
    asked = {"pairs": chosen}
    if other := _other(view, chosen):
        asked["other_pairs"] = chosen | other
    lists = {name: ask(pair_delta.browse, limit=_LIMIT, **each) for name, each in asked.items()}
    first = lists["pairs"].head(1)[list(PAIR)].to_dict("records")
    view.finding(_finding(view, lists["pairs"], chosen))
    left, right = view.columns(_BESIDE_A_LIST if other else _BESIDE_A_PAIR)
    with st.container() if other else right:
        tokens = chosen_pair(view, first[0] if first else {}, chosen["layer"], chosen["effect"])
    with left:
        above = st.container()
        view.row()
        page = _page(view, max(map(len, lists.values())))
    reach = reach_of(pd.concat(each.iloc[page] for each in lists.values()))
    for place, (name, frame) in zip((above, right), lists.items(), strict=False):
        with place:
            _list(view, name, frame, asked[name], page=page, tokens=tokens, reach=reach)


def _other(view: View, chosen: dict[str, Any]) -> dict[str, Any]:
    """What the list beside the first one has of its own: its layer or its step; nothing if none."""
    of_layers = {each: view.say("beside_layer", layer=each) for each in layers()}
    of_effects = {each: effect_name(each) for each in layer_order().effects}
    names: dict[Any, str] = {"none": view.say("beside_none"), **of_layers, **of_effects}
    for each in (chosen["layer"], chosen["effect"]):
        del names[each]
    beside = view.pick("beside", names, kind="select")
    if beside == "none":
        return {}
    return {"layer" if beside in of_layers else "effect": beside}


def _finding(view: View, frame: pd.DataFrame, chosen: Mapping[str, Any]) -> str:
    """How many of the pairs listed are clear of 0, and in which direction."""
    if frame.empty:
        return ""
    change = frame.loc[is_clear(frame), "mean_delta"]
    return view.say(
        "finding_cut" if len(frame) == _LIMIT else "finding",
        layer=chosen["layer"],
        effect=effect_name(chosen["effect"]),
        clear=count(len(change)),
        total=count(len(frame)),
        amplified=count(int((change > 0).sum())),
        attenuated=count(int((change < 0).sum())),
    )


def _page(view: View, n: int) -> slice:
    """The rows of a list that are drawn."""
    pages = -(-n // ROWS)
    page = view.number("list_page", 1, pages, 1, pages=count(pages)) if pages > 1 else 1
    return slice((page - 1) * ROWS, page * ROWS)


def _list(
    view: View,
    name: str,
    frame: pd.DataFrame,
    chosen: dict[str, Any],
    *,
    page: slice,
    tokens: dict[str, str],
    reach: float,
) -> None:
    """A page of a list as a chart, and all of it as a table."""
    if frame.empty:
        texts = [chosen[each] for each in ("source", "target", "text") if chosen[each]]
        none = "nothing" if texts else "none_clear" if chosen["clear"] else "none"
        st.info(view.say(none, text=plain(", ".join(texts)), least=chosen["min_count"]))
        return
    shown, state = frame.iloc[page], state_of(chosen)
    place = {"layer": chosen["layer"], "effect": effect_name(chosen["effect"])}
    told = {"order": view.say(f"order_{chosen['rank']}"), "n": count(len(frame))}
    if len(shown):
        view.figure(
            name,
            shown,
            pair_rows(shown, tokens, reach),
            state=(state, *tokens.values()),
            click=True,
            caption=view.say("pairs_caption", **told),
            **place,
        )
    with st.expander(view.say("as_table")):
        view.table(
            f"{name}_table",
            in_points(frame),
            COLUMNS,
            state=state,
            click=PAIR,
            caption=view.say("table_caption", **told),
            **place,
        )
