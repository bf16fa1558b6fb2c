"""The pairs whose mixing a step of the layer changes most, of every layer on one screen."""

from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from analysis.scopes import RELATIONS
from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs import grid
from pages.token_pairs.pair_choice import pick_effect, pick_least, pick_special
from pages.token_pairs.published import EFFECT, pair_lists
from pages.token_pairs.units import named
from pages.ui.about import about
from pages.ui.charts.colours import RELATION_COLOURS
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.choices.links import address
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, markup
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.names import effect_meaning, effect_name, relation_name
from pages.ui.words.say import say

DIRECTIONS = ("amplified", "attenuated")
PLACES = 10
_EXPORTED = (
    *("layer", "direction", "place", "source", "target", "mean_delta", "low", "high"),
    *("n", "n_sequences", "pmi", "relation"),
)


def show() -> None:
    require(pair_delta.TABLE, pair.TABLE)
    st.header(say("token_pairs.tables.title"), anchor=False)
    choices = _pick_choices()
    shown = _pick_directions()
    parts = [
        ask(
            pair_delta.top, amplified=each == "amplified", layer=None, limit=PLACES, **choices
        ).assign(direction=each)
        for each in DIRECTIONS
    ]
    frame = pd.concat(parts, ignore_index=True)
    if frame.empty:
        st.info(say("token_pairs.none", least=choices["min_count"]))
        return
    st.markdown(_finding(frame))
    some = tuple(each for each in shown if (frame["direction"] == each).any())
    for each in shown:
        if each not in some:
            st.info(say(f"token_pairs.tables.no_{each}", least=choices["min_count"]))
    if some:
        _grids(frame[frame["direction"].isin(some)], choices, some)
    _relations(frame, choices["effect"])
    if choices["effect"] == EFFECT:
        pair_lists(frame, shown)
    about(pair_delta.TABLE, pair.TABLE)


def _pick_choices() -> dict[str, Any]:
    effect, least, special = st.columns([2, 1, 1])
    with effect:
        chosen = pick_effect()
    with least:
        min_count = pick_least()
    with special:
        with_special = pick_special()
    return {"effect": chosen, "min_count": min_count, "special": with_special}


def _pick_directions() -> tuple[str, ...]:
    chosen = pick(
        "tp_direction",
        say("token_pairs.tables.direction"),
        ["both", *DIRECTIONS],
        default="both",
        format=lambda each: say(f"token_pairs.tables.direction_{each}"),
    )
    return DIRECTIONS if chosen == "both" else (chosen,)


def _finding(frame: pd.DataFrame) -> str:
    """What kind of pairs lead the lists, and in which layer most."""
    return " ".join(
        _sentence(frame[frame["direction"] == each], each)
        for each in DIRECTIONS
        if (frame["direction"] == each).any()
    )


def _sentence(frame: pd.DataFrame, direction: str) -> str:
    most = str(frame["relation"].value_counts().sort_index().idxmax())
    of_kind = frame[frame["relation"] == most]
    layer = int(of_kind["layer"].mode().iloc[0])
    return say(
        f"token_pairs.tables.finding_{direction}",
        relation=relation_name(most),
        n=len(of_kind),
        total=len(frame),
        layer=layer,
        of_layer=int((of_kind["layer"] == layer).sum()),
        in_layer=int((frame["layer"] == layer).sum()),
    )


def _grids(frame: pd.DataFrame, choices: dict[str, Any], shown: tuple[str, ...]) -> None:
    layers = range(1, int(open_store().run["n_layers"]) + 1)
    top = float(frame["mean_delta"].abs().max())
    here = address() | {"tp_view": "pair", "tp_effect": choices["effect"]}

    def place_of(row: Any) -> str:
        chosen = {"tp_layer": row.layer, "tp_source": row.source, "tp_target": row.target}
        return f"?{urlencode(here | chosen)}"

    body = "".join(
        grid.grid(
            frame[frame["direction"] == each],
            title=say(f"token_pairs.tables.block_{each}"),
            layers=layers,
            places=PLACES,
            top=top,
            address=place_of,
        )
        for each in shown
    )
    markup(
        grid.STYLE + grid.key(frame["relation"].unique().tolist()) + body,
        key="tp_tables",
        question=say("token_pairs.tables.question", effect=effect_name(choices["effect"])),
        caption=say(
            "token_pairs.tables.caption",
            step=effect_meaning(choices["effect"]),
            least=choices["min_count"],
        ),
        frame=named(frame)[list(_EXPORTED)],
    )


def _relations(frame: pd.DataFrame, effect: str) -> None:
    """Which share of each layer's listed pairs stands in which relation."""
    sides = {each: say(f"token_pairs.tables.direction_{each}") for each in DIRECTIONS}
    counted = frame.groupby(["direction", "layer", "relation"]).size().reset_index(name="pairs")
    counted["share"] = counted["pairs"] / counted.groupby(["direction", "layer"])[
        "pairs"
    ].transform("sum")
    counted["name"] = counted["relation"].map(relation_name)
    counted["side"] = counted["direction"].map(sides)
    chart = paired_stacks(
        counted,
        y="share",
        colour="name",
        colours={relation_name(each): RELATION_COLOURS[each] for each in RELATIONS},
        side="side",
        sides=(sides[DIRECTIONS[0]], sides[DIRECTIONS[1]]),
        y_title=say("token_pairs.tables.share"),
        titles={
            "name": say("token_pairs.column.relation"),
            "side": say("token_pairs.tables.direction"),
            "pairs": say("token_pairs.tables.pairs"),
        },
        format=".0%",
        height=400,
    )
    question = say("token_pairs.tables.relations", effect=effect_name(effect))
    figure(
        chart,
        key="tp_relations",
        question=question,
        caption=say("token_pairs.tables.relations_caption"),
        frame=counted[["layer", "direction", "relation", "pairs", "share"]],
        alt=question,
    )
