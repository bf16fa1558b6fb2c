"""One pair: what every step of every layer does to it, and every sentence it occurs in."""

from dataclasses import dataclass

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta, pair_occurrence
from pages.token_pairs.pair_choice import pick_effect, pick_layer
from pages.token_pairs.sentences import sentences
from pages.token_pairs.units import in_points, pair_name, points, zero_line
from pages.ui.about import about
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import choose, pick, pick_text
from pages.ui.figure import figure
from pages.ui.store.chosen import ask, is_causal, layer_order, require
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import count, percent, signed
from pages.ui.words.say import plain, say


@dataclass(frozen=True)
class Chosen:
    """A pair that occurs: its tokens, and their places in the vocabulary."""

    source: str
    target: str
    source_id: int
    target_id: int

    @property
    def name(self) -> str:
        return pair_name(self.source, self.target)

    @property
    def ids(self) -> dict[str, int]:
        return {"source_id": self.source_id, "target_id": self.target_id}


def show() -> None:
    require(pair_delta.TABLE, pair.TABLE, pair_occurrence.TABLE)
    st.header(say("token_pairs.one_pair.title"), anchor=False)
    layer, effect = _pick_place()
    chosen = _pick_pair(layer, effect)
    if chosen:
        st.subheader(plain(chosen.name), anchor=False)
        changes = ask(pair_delta.of_pair, **chosen.ids)
        _facts(chosen)
        st.markdown(_finding(changes, layer, effect))
        _by_layer(changes, chosen, _pick_steps(effect))
        sentences(chosen.ids, layer=layer, effect=effect)
    about(pair_delta.TABLE, pair.TABLE, pair_occurrence.TABLE)


def _pick_place() -> tuple[int, str]:
    left, right = st.columns([1, 2])
    with left:
        layer = pick_layer()
    with right:
        effect = pick_effect()
    return layer, effect


def _pick_pair(layer: int, effect: str) -> Chosen | None:
    """The tokens as they are written; unless others were, the pair that changes most."""
    default = _most_changed(layer, effect)
    texts = st.columns([4, 4, 1], vertical_alignment="bottom")
    named = {}
    for place, side in zip(texts, ("source", "target"), strict=False):
        with place:
            named[side] = pick_text(
                f"tp_{side}",
                say(f"token_pairs.one_pair.{side}"),
                default=default[side],
                help=say("token_pairs.one_pair.token_help"),
            )
    texts[2].button(
        "⇄",
        key="tp_swap",
        on_click=_swap,
        args=(named["source"], named["target"]),
        help=say("token_pairs.one_pair.swap"),
        width="stretch",
    )
    found = ask(pair_delta.look_up, **named)
    if found.empty:
        shown = plain(pair_name(named["source"], named["target"]))
        unknown = "unknown_causal" if is_causal() else "unknown"
        st.info(say(f"token_pairs.one_pair.{unknown}", pair=shown))
        return None
    ids = found.iloc[0]
    return Chosen(**named, source_id=int(ids["source_id"]), target_id=int(ids["target_id"]))


def _most_changed(layer: int, effect: str) -> dict[str, str]:
    """A pair that occurs twice, if there is one."""
    choices = {"effect": effect, "layer": layer, "limit": 1}
    for least in (2, 1):
        ends = [
            ask(pair_delta.top, amplified=each, min_count=least, **choices)
            for each in (True, False)
        ]
        first = pd.concat(ends, ignore_index=True)
        if len(first):
            row = first.iloc[int(first["mean_delta"].abs().argmax())]
            return {side: str(row[side]) for side in ("source", "target")}
    return {"source": "", "target": ""}


def _swap(source: str, target: str) -> None:
    choose("tp_source", target)
    choose("tp_target", source)


def _facts(chosen: Chosen) -> None:
    row = ask(pair.of_pair, **chosen.ids).iloc[0]
    numbers = {name: count(row[name]) for name in ("n", "n_sequences")}
    numbers["pmi"] = "–" if pd.isna(row["pmi"]) else signed(row["pmi"])
    for place, (name, number) in zip(st.columns(3), numbers.items(), strict=True):
        explained = say("token_pairs.pmi.what") if name == "pmi" else None
        place.metric(say(f"token_pairs.column.{name}"), number, border=True, help=explained)
    st.markdown(
        say(
            "token_pairs.one_pair.relation",
            relation=relation_name(row["relation"]),
            share=percent(row["relation_share"]),
        )
    )


def _finding(changes: pd.DataFrame, layer: int, effect: str) -> str:
    """The change in the chosen layer, and the layer in which it is largest."""
    of_effect = changes[changes["effect"] == effect]
    here = of_effect[of_effect["layer"] == layer].iloc[0]
    peak = of_effect.iloc[int(of_effect["mean_delta"].abs().argmax())]
    return say(
        "token_pairs.one_pair.finding",
        effect=effect_name(effect),
        layer=layer,
        delta=points(here["mean_delta"]),
        peak=int(peak["layer"]),
        peak_delta=points(peak["mean_delta"]),
    )


def _pick_steps(effect: str) -> list[str]:
    """Every step, or the chosen one, whose changes can be much smaller than those of others."""
    steps = pick(
        "tp_steps",
        say("token_pairs.one_pair.steps"),
        ["all", "one"],
        default="all",
        format=lambda each: say(f"token_pairs.one_pair.steps_{each}", effect=effect_name(effect)),
    )
    return list(layer_order().effects) if steps == "all" else [effect]


def _by_layer(changes: pd.DataFrame, chosen: Chosen, order: list[str]) -> None:
    changes = changes[changes["effect"].isin(order)]
    shown = in_points(changes).assign(
        name=changes["effect"].map(effect_name), place=changes["effect"].map(order.index)
    )
    shown = shown.sort_values(["place", "layer"])
    sure = bool(shown["low"].notna().any())
    drawn = lines(
        shown,
        x="layer",
        y="mean_delta",
        colour="name",
        low="low" if sure else None,
        high="high" if sure else None,
        x_title=say("axis.layer"),
        y_title=say("token_pairs.axis.mean_delta"),
        colour_title=" ",
        colours=dict(zip(map(effect_name, layer_order().effects), SERIES_COLOURS, strict=False)),
        format="+.2f",
        height=400,
    )
    zero = zero_line().encode(y="zero:Q")
    question = say("token_pairs.one_pair.layers", pair=plain(chosen.name))
    figure(
        alt.layer(zero, drawn),
        key="tp_pair_layers",
        question=question,
        caption=say(f"token_pairs.one_pair.layers_caption_{'sure' if sure else 'unsure'}"),
        frame=changes,
        alt=question,
    )
