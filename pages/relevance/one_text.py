"""Relevance of the tokens of one text to a layer's output, by head and by layer."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from analysis.statistics.relevance import relevance_map, relevance_summary
from pages.relevance.absence import too_long
from pages.relevance.choices import (
    head_names,
    pick_head,
    pick_layer,
    pick_own_scale,
    pick_rule,
    pick_text,
)
from pages.relevance.maps.source import MEAN, StoredMaps
from pages.relevance.maps.text_map import (
    TokenMaps,
    large_text,
    live_text,
    shares_apart,
    small_texts,
    stored_text,
)
from pages.relevance.maps.token_strip import strip_frame, token_strip
from pages.relevance.rules import WITH_HEADS, rule_meaning, rule_name
from pages.ui.choices.links import link_to_sequence
from pages.ui.live import live_model as live
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say

_NAMED = 5  # of the most relevant tokens, in the sentence


@section(
    "text",
    relevance_map.TABLE,
    also=(relevance_summary.TABLE,),
    lacking=too_long,
    when=lambda store: not store.shows_images,
)
def one_text(view: View) -> None:
    is_own = view.pick("source", ("corpus", "own")) == "own"
    maps = _own(view) if is_own else stored_text(view, pick_text(view))
    if maps is None:
        return
    rule = pick_rule(view, maps.source.rules)
    layer = pick_layer(view, maps.source.layers(rule, MEAN))
    heads = maps.source.heads(rule, layer)
    view.finding(_finding(view, maps, heads[MEAN]))
    if is_own:
        view.write("caption", view.say("own_note"))
    values: dict[str, Any] = {
        "state": f"{maps.source.name}_{rule}_{layer}",
        "rule": rule_name(rule),
    }
    view.markup(
        "mean_of_heads" if rule in WITH_HEADS else "one",
        maps.numbers({"relevance": heads[MEAN]}),
        large_text(maps, heads[MEAN]),
        layer=layer,
        meaning=rule_meaning(rule),
        **values,
    )
    names = head_names(heads)
    single = [head for head in heads if head != MEAN]
    if single:
        texts = {names[head]: heads[head] for head in single}
        frame = maps.numbers({f"head_{head}": heads[head] for head in single})
        own_scale = pick_own_scale(view)
        view.markup("heads", frame, small_texts(maps, texts, own_scale=own_scale), **values)
    _layers(view, maps, names, rule, layer)
    if isinstance(maps.source, StoredMaps):
        view.draw(link_to_sequence, maps.source.seq)
    with view.place("expander", view.say("numbers_title")):
        number = st.column_config.NumberColumn
        titles = names if single else {MEAN: title("relevance")}
        view.table(
            "numbers",
            maps.numbers(heads),
            ["pos", "token"],
            settings={head: number(titles[head], format="%.5f") for head in heads},
            options={"height": 320},
            **values,
        )


def _own(view: View) -> TokenMaps | None:
    """Draw a text box; return the maps of its text, or None if there are none yet."""
    text = live.text_box(view)
    if not text or not live.reachable(view):
        return None
    relevance = live.relevance_of_text(view, text)
    if relevance is None:
        return None
    if relevance.is_cut:
        view.write("caption", view.say("own_cut", n=len(relevance.tokens)))
    return live_text(view.store, relevance, hashlib.sha256(text.encode()).hexdigest()[:12])


def _finding(view: View, maps: TokenMaps, relevance: np.ndarray) -> str:
    """Report the share of special tokens, and the most relevant tokens."""
    content, apart = maps.content(relevance), shares_apart(maps, relevance)
    kept = view.say("finding_apart", tokens=plain(apart)) if apart else ""
    if not content.sum() > 0:
        return kept
    order = [at for at in np.argsort(-relevance, kind="stable") if not maps.apart[at]]
    most = (f"**{plain(maps.names[at])}** {relevance[at]:.2%}" for at in order[:_NAMED])
    rest = view.say(
        "finding_most",
        tokens=say("list.comma").join(most),
        even=f"{content.mean():.2%}",
        total=percent(content.sum()),
    )
    return f"{kept} {rest}"


def _layers(view: View, maps: TokenMaps, names: Mapping[str, str], rule: str, layer: int) -> None:
    """Draw the text from every start layer, for one head or the mean."""
    head = pick_head(view, names) if len(names) > 1 else MEAN
    layers = maps.source.layers(rule, head)
    if len(layers) > 1:
        frame = strip_frame(maps, layers)
        view.figure(
            "layers_of_head" if len(names) > 1 else "layers",
            frame,
            token_strip(frame, marked=layer),
            state=f"{maps.source.name}_{rule}_{layer}_{head}",
            rule=rule_name(rule),
            head=names[head],
        )
