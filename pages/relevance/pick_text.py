"""Which text, rule and start layer are looked at; a text of the corpus or the reader's own."""

from dataclasses import dataclass

import streamlit as st

from analysis.tables.relevance import relevance_map
from pages.relevance.choices import MEAN, pick_layer, pick_rule
from pages.relevance.own_text import own_text
from pages.relevance.rules import in_order
from pages.relevance.token_maps import TokenMaps, stored
from pages.ui.choices.pick import pick
from pages.ui.store.chosen import ask
from pages.ui.words.say import say

TEXT = "re_seq"
_SOURCES = ("corpus", "own")
_BEGINNING = 90  # letters of a text that stand in the picker


@dataclass(frozen=True)
class Chosen:
    """A text's maps, which of them are looked at, and whether the reader typed the text."""

    maps: TokenMaps
    rule: str
    layer: int
    is_own: bool

    @property
    def key(self) -> str:
        """Another for every choice, for keys of charts."""
        return f"{self.maps.source.name}_{self.rule}_{self.layer}"

    def heads(self) -> dict[str, list[float]]:
        """The mean of the heads first, then every head that the rule follows by itself."""
        return {
            head: [float(each) for each in relevance]
            for head, relevance in self.maps.source.heads(self.rule, self.layer).items()
        }


def pick_maps() -> Chosen | None:
    """The pickers; None where there is no text yet."""
    source = pick(
        "re_source",
        say("relevance_text.source"),
        _SOURCES,
        default=_SOURCES[0],
        format=lambda each: say(f"relevance_text.source_{each}"),
    )
    maps = own_text() if source == "own" else stored(pick_sequence())
    if maps is None:
        return None
    left, right = st.columns([2, 1])
    with left:
        rule = pick_rule(in_order(maps.source.rules()))
    with right:
        layer = pick_layer([int(each) for each in maps.source.layers(rule, MEAN)])
    return Chosen(maps, rule, layer, is_own=source == "own")


def pick_sequence() -> int:
    """One of the texts whose maps are kept."""
    kept = ask(relevance_map.kept)
    names = {
        int(seq): say("relevance_text.option", seq=seq, text=_beginning(text))
        for seq, text in zip(kept["seq"], kept["text"], strict=True)
    }
    return pick(
        TEXT,
        say("relevance_text.text"),
        list(names),
        default=next(iter(names)),
        format=names.__getitem__,
        kind="select",
        help=say("relevance_text.text_help", n=len(names)),
    )


def _beginning(text: str) -> str:
    return text if len(text) <= _BEGINNING else f"{text[:_BEGINNING]}…"
