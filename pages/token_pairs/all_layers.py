"""Pairs whose mixing a module changes most, for all layers on one screen."""

from typing import Any
from urllib.parse import urlencode

import pandas as pd

from analysis.statistics.pairs import pair, pair_delta
from pages.token_pairs import grid
from pages.token_pairs.choices import choices
from pages.token_pairs.lists import COLUMNS, DIRECTIONS, in_points, tally_sentence, top_pairs
from pages.token_pairs.published import EFFECT, pair_lists
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.choices.links import address
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import is_clear
from pages.ui.words.names import effect_meaning, effect_name, relation_name


@section("tables", pair_delta.TABLE, pair.TABLE)
def all_layers(view: View) -> None:
    chosen = choices(view, "effect", "rank", "clear", "min_count", "special")
    effect, least = chosen["effect"], chosen["min_count"]
    direction = view.pick("direction", ["both", *DIRECTIONS])
    frame = top_pairs(view, **chosen)
    if frame.empty:
        return view.nothing("none_clear" if chosen["clear"] else "none", least=least)
    lists = {str(name): part for name, part in frame.groupby("direction", sort=False)}
    view.finding(
        tally_sentence(
            view, view.say("where_all", n=len(view.store.layers)), view.store.layers, chosen
        )
    )
    view.finding(" ".join(_sentence(view, *entry) for entry in lists.items()))
    shown = DIRECTIONS if direction == "both" else (direction,)
    for name in shown:
        if name not in lists:
            view.nothing(f"no_{name}{'_clear' if chosen['clear'] else ''}", least=least)
    _relations(view, frame, effect, among="clear" if chosen["clear"] else "all")
    if some := {name: lists[name] for name in shown if name in lists}:
        _grids(view, some, chosen)
    if effect == EFFECT:
        as_printed = chosen | {"rank": "mean", "clear": False}
        pair_lists(view, top_pairs(view, **as_printed), shown)


def _sentence(view: View, direction: str, frame: pd.DataFrame) -> str:
    """Count the pairs of a list that are clear of 0; name their main relation and layer."""
    total, frame = len(frame), frame[is_clear(frame["low"], frame["high"])]
    if frame.empty:
        return view.say(f"finding_{direction}_unclear", total=total)
    most = str(frame["relation"].value_counts().sort_index().idxmax())
    of_kind = frame[frame["relation"] == most]
    layer = int(of_kind["layer"].mode().iloc[0])
    return view.say(
        f"finding_{direction}",
        relation=relation_name(most),
        n=len(of_kind),
        total=total,
        clear=len(frame),
        layer=layer,
        of_layer=int((of_kind["layer"] == layer).sum()),
        in_layer=int((frame["layer"] == layer).sum()),
    )


def _grids(view: View, lists: dict[str, pd.DataFrame], chosen: dict[str, Any]) -> None:
    frame, effect = pd.concat(lists.values()), chosen["effect"]
    top = float(frame["mean_delta"].abs().max())
    filters = ("effect", "least", "clear", "special", "rank")
    here = address(*map(view.key, filters)) | {"tp_view": "workbench"}

    def place_of(row: Any) -> str:
        pair = {"tp_layer": row.layer, "tp_source": row.source, "tp_target": row.target}
        return f"?{urlencode(here | pair)}"

    named = {view.say(f"block_{direction}"): part for direction, part in lists.items()}
    grids = (
        grid.grid(part, name, layers=view.store.layers, top=top, address=place_of)
        for name, part in named.items()
    )
    view.markup(
        "grids",
        in_points(frame)[["layer", "direction", "place", *COLUMNS]],
        grid.STYLE + grid.key(frame) + "".join(grids),
        grid.picture(named, layers=view.store.layers, top=top),
        effect=effect_name(effect),
        step=effect_meaning(view.store, effect),
        order=view.say(f"order_{chosen['rank']}"),
        least=chosen["min_count"],
    )


def _relations(view: View, frame: pd.DataFrame, effect: str, *, among: str) -> None:
    """Draw the share of every relation among each layer's listed pairs."""
    counted = frame.groupby(["direction", "layer", "relation"]).size().reset_index(name="pairs")
    total = counted.groupby(["direction", "layer"])["pairs"].transform("sum")
    counted = counted.assign(share=counted["pairs"] / total)
    names = {direction: view.say(f"direction_{direction}") for direction in DIRECTIONS}
    chart = paired_stacks(
        counted.assign(direction=counted["direction"].map(names)),
        y="share",
        colour="relation",
        side="direction",
        sides=list(names.values()),
        tooltip=("pairs",),
        format=".0%",
        height=400,
    )
    caption = f"{view.say('relations_caption')} {view.say(f'among_{among}')}"
    view.figure("relations", counted, chart, caption=caption, effect=effect_name(effect))
