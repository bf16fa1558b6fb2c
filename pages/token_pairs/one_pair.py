"""One pair: what every step of every layer does to it, and every sentence it occurs in."""

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta, pair_occurrence
from pages.token_pairs.choices import PAIR, choices
from pages.token_pairs.lists import change, in_points, is_clear, pair_name, top_pairs
from pages.token_pairs.sentences import sentences
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import choose
from pages.ui.page import section
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import count, percent, signed
from pages.ui.words.say import plain


@section("pair", pair_delta.TABLE, pair.TABLE, pair_occurrence.TABLE)
def one_pair(view: View) -> None:
    place = choices(view, "layer", "effect")
    tokens = _tokens(view, **place)
    name = plain(pair_name(**tokens))
    found = ask(pair_delta.look_up, **tokens)
    if found.empty:
        st.info(view.say("unknown_causal" if is_causal() else "unknown", pair=name))
        return
    ids = {str(side): int(token_id) for side, token_id in found.iloc[0].items()}
    changes = ask(pair_delta.of_pair, **ids)
    view.finding(_finding(view, changes, **place))
    _by_layer(view, changes, place["effect"], name)
    _facts(view, ids)
    sentences(view, ids, **place)


def _tokens(view: View, layer: int, effect: str) -> dict[str, str]:
    """The tokens as they are written; unless others were, the first pair of the lists."""
    default = _most_changed(layer, effect)
    with view.toolbar():
        tokens = {side: view.text(side, default[side], hint="token_help") for side in PAIR}
        hint, turned = view.say("swap"), [*reversed(tokens.values())]
        st.button("⇄", key="tp_swap", on_click=_choose, args=(turned,), help=hint)
    return tokens


def _most_changed(layer: int, effect: str) -> dict[str, str]:
    """A pair that occurs twice, if there is one."""
    for least in (2, 1):
        frame = top_pairs(layer, effect=effect, min_count=least)
        if len(frame):
            bound = frame[["low", "high"]].abs().min(axis=1).where(is_clear(frame), -1.0)
            by = frame.assign(bound=bound, size=frame["mean_delta"].abs())
            row = by.sort_values(["bound", "size"], ascending=False, kind="stable").iloc[0]
            return {side: str(row[side]) for side in PAIR}
    return dict.fromkeys(PAIR, "")


def _choose(tokens: list[str]) -> None:
    for side, token in zip(PAIR, tokens, strict=True):
        choose(f"tp_{side}", token)


def _facts(view: View, ids: dict[str, int]) -> None:
    """How often the pair occurs, how much more often than by chance, and in which relation."""
    row = ask(pair.of_pair, **ids).iloc[0]
    pmi = "–" if pd.isna(row["pmi"]) else signed(row["pmi"])
    numbers = {"n": count(row["n"]), "n_sequences": count(row["n_sequences"]), "pmi": pmi}
    for column, (name, number) in zip(st.columns(3), numbers.items(), strict=True):
        hint = view.say("pmi_help") if name == "pmi" else None
        column.metric(title(name), number, border=True, help=hint)
    share, relation = percent(row["relation_share"]), relation_name(row["relation"])
    st.markdown(view.say("relation_of_pair", relation=relation, share=share))


def _finding(view: View, changes: pd.DataFrame, layer: int, effect: str) -> str:
    """The change in the chosen layer, and the layer in which it is largest."""
    of_effect = changes[changes["effect"] == effect]
    here = of_effect[of_effect["layer"] == layer].iloc[0]
    peak = of_effect.iloc[int(of_effect["mean_delta"].abs().argmax())]
    return view.say(
        "finding",
        effect=effect_name(effect),
        layer=layer,
        change=change(here),
        peak=int(peak["layer"]),
        peak_change=change(peak),
    )


def _by_layer(view: View, changes: pd.DataFrame, effect: str, name: str) -> None:
    """Every step, or the chosen one, whose changes can be much smaller than those of others."""
    steps = {each: view.say(f"steps_{each}", effect=effect_name(effect)) for each in ("all", "one")}
    if view.pick("steps", steps) == "one":
        changes = changes[changes["effect"] == effect]
    chart = lines(
        in_points(changes),
        x="layer",
        y="mean_delta",
        colour="effect",
        low="low",
        high="high",
        colour_title=" ",
        level=0.0,
        format="+.2f",
        height=400,
    )
    sure = "sure" if changes["low"].notna().any() else "unsure"
    view.figure("layers", changes, chart, caption=view.say(f"layers_caption_{sure}"), pair=name)
