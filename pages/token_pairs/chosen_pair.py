"""One pair: its changes by every module of every layer, and the sentences in which it occurs."""

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import pandas as pd

from analysis.statistics.pairs import pair, pair_delta, pair_occurrence
from analysis.statistics.sample import least_count
from pages.token_pairs.choices import PAIR
from pages.token_pairs.lists import CHANGE, HIGH, LOW, change, in_points, pair_name
from pages.token_pairs.maps import occurrence_maps
from pages.ui.charts.pieces import readable
from pages.ui.charts.standard import lines
from pages.ui.choices.picker import choose
from pages.ui.live import live_model as live
from pages.ui.passages import Passage, draw_passages
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import count, percent, points, signed
from pages.ui.words.say import plain, say
from pages.ui.words.units import POINTS, in_unit

_HEIGHT, _OF_LEGEND = 230, 24  # pixels
PAGE = 5
_MOST = 1_000


def chosen_pair(view: View, first: Mapping[str, str], layer: int, effect: str) -> dict[str, str]:
    """Draw one pair; return its tokens.

    Args:
        first: its tokens unless others are chosen; empty if there are none.
    """
    tokens = _tokens(view, first)
    if not any(tokens.values()):
        return tokens
    name, matches = plain(pair_name(**tokens)), view.ask(pair.look_up, **tokens)
    ids = {str(side): int(matches[side].iloc[0]) for side in matches if len(matches)}
    changes = view.ask(pair_delta.of_pair, **ids) if ids else matches
    if changes.empty:
        _absent(view, name, stands=bool(ids))
    else:
        shown = view.pick("steps", ["one", "all"])
        of_effect = changes[changes["effect"] == effect]
        _facts(view, ids, of_effect, layer, effect)
        _by_layer(view, changes if shown == "all" else of_effect, name)
    if ids:
        sentences(view, ids, layer=layer, effect=effect)
    return tokens


def _absent(view: View, name: str, *, stands: bool) -> None:
    """Show the reason why the file has nothing on a pair.

    Args:
        stands: whether a text of the file has it.
    """
    least, known = (
        least_count(view.store.facts),
        [w for w in view.store.windows.values() if w is not None],
    )
    if least > 1:
        view.nothing("rare", pair=name, least=count(least))
    elif stands:
        view.nothing("beyond", pair=name, window=count(max(known, default=0)))
    else:
        view.nothing("unknown_causal" if view.store.is_causal else "unknown", pair=name)


def _tokens(view: View, first: Mapping[str, str]) -> dict[str, str]:
    """Let the reader enter the tokens of the pair; by default those of the first pair."""
    view.row()
    tokens = {}
    for side in PAIR:
        example = first.get(side, "")
        tokens[side] = view.text(side, hint="token_help", example=example) or example
    turned = [*reversed(tokens.values())]
    with view.toolbar():
        view.button("⇄", _choose, turned, key="tp_swap", help=view.say("swap"))
    return tokens


def _choose(tokens: list[str]) -> None:
    for side, token in zip(PAIR, tokens, strict=True):
        choose(f"tp_{side}", token)


def _facts(view: View, ids: dict[str, int], changes: pd.DataFrame, layer: int, effect: str) -> None:
    """Draw the pair's change in the layer, the largest one, its count and its relation."""
    here = changes[changes["layer"] == layer]
    peak = changes.iloc[int(changes["mean_delta"].abs().argmax())]
    row = view.ask(pair.of_pair, **ids).iloc[0]
    pmi = row["pmi"]
    values: dict[str, Any] = {"layer": layer, "effect": effect_name(effect)}
    values |= {
        "peak": int(peak["layer"]),
        "peak_change": change(peak),
        "window": view.store.windows[layer],
    }
    if here.empty:
        finding = view.say("finding_outside", **values)
    else:
        finding = view.say("finding_pair", change=change(here.iloc[0]), **values)
        if values["window"] is not None:
            finding += f" {view.say('inside', n=count(here['n'].iloc[0]), **values)}"
    facts = view.say(
        "facts",
        **row[["n", "n_sequences"]].map(count),
        pmi=view.say("no_pmi") if pd.isna(pmi) else view.say("in_bits", pmi=signed(pmi)),
        relation=relation_name(row["relation"]),
        share=percent(row["relation_share"]),
    )
    view.write("caption", f"{finding}  \n{facts}", help=view.say("pmi_help"))


def _by_layer(view: View, changes: pd.DataFrame, name: str) -> None:
    """Draw the changes by some modules over the layers.

    A line breaks at layers whose window does not span the pair.
    """
    every = pd.MultiIndex.from_product([view.store.layers, changes["effect"].unique()])
    drawn = changes.set_index(["layer", "effect"]).reindex(every.set_names(["layer", "effect"]))
    chart = lines(
        in_points(drawn.reset_index()),
        y=CHANGE,
        ends=(LOW, HIGH),
        colour="effect",
        colour_title=" ",
        level=0.0,
        format="+.2f",
        columns=1,
        height=_HEIGHT + _OF_LEGEND * changes["effect"].nunique(),
    )
    caption = view.say("layers_caption")
    if changes["layer"].nunique() < len(view.store.layers):
        caption += f" {view.say('layers_outside')}"
    view.figure("layers", in_points(changes), chart, caption=caption, pair=name)


def sentences(view: View, ids: dict[str, int], *, layer: int, effect: str) -> None:
    """Draw a page of occurrences, and the maps of one of them if the model can be run."""
    occurrences = view.ask(pair_occurrence.of_pair, layer=layer, effect=effect, limit=_MOST, **ids)
    pages = max(1, -(-len(occurrences) // PAGE))
    page = view.number("page", 1, pages, 1, pages=count(pages))
    runs = view.pick("live", ["stored", "live"]) == "live" and live.reachable(view)
    numbered = occurrences.assign(place=occurrences.index + 1)
    shown = numbered.iloc[(page - 1) * PAGE : page * PAGE].reset_index(drop=True)
    if runs:
        shown["delta"] = [_delta(view, row, layer, effect) for row in shown.to_dict("records")]
    _texts(view, shown, len(occurrences), layer)
    if runs:
        occurrence_maps(view, shown, layer=layer, effect=effect)


def _delta(inquiry: Inquiry, row: dict[Any, Any], layer: int, effect: str) -> float:
    """Change at an occurrence, computed if the file does not store it.

    NaN if the pair is outside of the layer's window.
    """
    if pd.notna(row["delta"]) or not row["in_window"]:
        return row["delta"]
    tokens = inquiry.ask(pair_occurrence.sequence, seq=row["seq"])
    maps = live.effect_maps(inquiry.store, tokens, layer=layer, effect=effect)
    return float(maps.change[row["target_pos"], row["source_pos"]])


def _texts(view: View, shown: pd.DataFrame, n: int, layer: int) -> None:
    keys = (f'<span class="an-{side}">{escape(view.say(f"key_{side}"))}</span>' for side in PAIR)
    cut = "cut" if n == _MOST else "whole"
    colours = f'<div class="an-text">{" ".join(keys)}</div>'
    parts = [_occurrence(view, row, layer) for row in shown.to_dict("records")]
    view.markup(
        "sentences",
        in_unit(shown, POINTS, ["delta"]),
        partial(draw_passages, colours, parts),
        caption=view.say(f"sentences_caption_{cut}", n=count(n)),
    )


def _occurrence(view: View, row: dict[Any, Any], layer: int) -> Passage:
    delta, seq = row["delta"], row["seq"]
    words = view.say("not_stored" if row["in_window"] else "outside", layer=layer)
    if pd.notna(delta):
        words = view.say("in_points", delta=points(delta))
    tokens = view.ask(pair_occurrence.sequence, seq=seq)["token"].tolist()
    return Passage(
        view.say("heading", **{**row, "delta": plain(words)}),
        marked(tokens, row["source_pos"], row["target_pos"]),
        seq,
        token=row["target_pos"],
    )


def marked(tokens: list[str], source_pos: int, target_pos: int) -> str:
    """Text of the tokens with two of them marked."""
    sides = {source_pos: "source", target_pos: "target"}
    parts = []
    for position, (space, shown) in enumerate(readable(tokens)):
        text = escape(shown)
        if side := sides.get(position):
            title = escape(say(f"token_pairs.workbench.is_{side}", position=position))
            text = f'<span class="an-{side}" title="{title}">{text}</span>'
        parts.append(f"{escape(space)}{text}")
    return f'<div class="an-text">{"".join(parts)}</div>'
