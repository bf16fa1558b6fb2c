"""Facts on one head from the open file, each with a reason if the file lacks it."""

from collections.abc import Callable

import pandas as pd

from analysis.effects import MEAN
from analysis.published.heads import THRESHOLDS
from analysis.sinks import FIRST, USUAL_THRESHOLD
from analysis.statistics.heads import head_effect, head_pattern
from analysis.statistics.norms import token_type_mixing
from analysis.statistics.positions import head_offset
from analysis.statistics.probing import coreference_accuracy, dependency_accuracy
from analysis.statistics.sinks import sink
from analysis.statistics.table import Table
from pages.ui.fact_grid import Fact
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads
from pages.ui.head.choice import head_name, row_of
from pages.ui.store.inquiry import Inquiry
from pages.ui.words.interval import ends
from pages.ui.words.numbers import count, offset_label, percent
from pages.ui.words.say import say

_NOTHING = "—"
MERGING = "mean"
HALF = "first"
"""Part of the texts on which the best head is chosen; it is scored on the other."""
MIN_WORDS = 30
"""Least number of words of a relation for a fact on one head."""
SUMS = ("all", "all_words")
_Known = tuple[str, str]
"""A value, and a note on its measure."""


def facts(inquiry: Inquiry, layer: int, head: int) -> list[Fact]:
    """All facts of a head's card besides the habits."""
    listed = []
    for name, (table, value_of) in _FACTS.items():
        held = inquiry.store.holds(table)
        known = value_of(inquiry, layer, head) if held else None
        reason = say("head_card.no_value" if held else f"head_card.lacking_{name}")
        listed.append(Fact(say(f"head_card.{name}"), *(known or (_NOTHING, reason))))
    return listed


def _behaviour(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    row = row_of(behaviours_of_heads(inquiry), layer, head)
    if row is None:
        return None
    least = {name: f"{value:g}" for name, value in THRESHOLDS.items()}
    return behaviour_name(row["behaviour"]), say("head_card.behaviour_note", **least)


def _relation(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    """Relation on which the head exceeds the best fixed offset most."""
    relations = inquiry.ask(dependency_accuracy.of_head, layer=layer, head=head, merging=MERGING)
    relations = relations[(relations["n"] >= MIN_WORDS) & ~relations["relation"].isin(SUMS)]
    offsets = inquiry.ask(dependency_accuracy.baselines).groupby("relation")["accuracy"].max()
    gain = relations["accuracy"] - relations["relation"].map(offsets).astype("float64")
    if gain.dropna().empty or gain.max() <= 0:
        why = "relation_few" if gain.dropna().empty else "relation_none"
        return say("head_card.none"), say(f"head_card.{why}", least=MIN_WORDS)
    best = relations.loc[gain.idxmax()]
    note = say(
        "head_card.relation_note",
        direction=say(f"head_card.{best['direction']}"),
        n=count(best["n"]),
        interval=ends(best["low"], best["high"], percent),
        offset=percent(offsets[best["relation"]]),
        least=MIN_WORDS,
    )
    return f"{best['relation']} {percent(best['accuracy'])}", note


def _coreference(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    every = inquiry.ask(coreference_accuracy.of_type, mention_type="all", merging=MERGING)
    row = row_of(every, layer, head)
    if row is None:
        return None
    nearest = every.loc[every["method"] == "nearest", "accuracy"]
    note = say(
        "head_card.coreference_note",
        n=count(row["n"]),
        interval=ends(row["low"], row["high"], percent),
        nearest=percent(nearest.iloc[0]) if len(nearest) else _NOTHING,
    )
    return percent(row["accuracy"]), note


def _norm(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    """Share of the head in the norm of its layer's heads, with its multiple of an equal share."""
    norms = inquiry.ask(token_type_mixing.by_layer_and_head, layer=layer).set_index("head")[
        "weighted_norm"
    ]
    if head not in norms or norms.sum() == 0:
        return None
    share = norms[head] / norms.sum()
    times = f"{share * len(norms):.1f}"
    return percent(share), say("head_card.norm_note", layer=layer, times=times)


def _offset(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    row = row_of(inquiry.ask(head_offset.heads), layer, head)
    if row is None:
        return None
    dependence = _NOTHING if pd.isna(row["dependence"]) else f"{row['dependence']:.2f}"
    note = say("head_card.offset_note", dependence=dependence)
    return offset_label(row["attention_offset"]), note


def _sink(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    """Share of texts in which the first token is a sink of the head, with the norm that arrives."""
    asked = {"place": FIRST, "layer": layer, "head": head, "threshold": USUAL_THRESHOLD}
    rows = inquiry.ask(sink.of_head, **asked)
    if rows.empty:
        return None
    row = rows.iloc[0]
    note = say(
        "head_card.sink_note",
        n=count(row["n"]),
        threshold=percent(USUAL_THRESHOLD),
        attention=percent(row["attention"]),
        norm=percent(row["norm_share"]),
    )
    return percent(row["rate"]), note


def _effect(inquiry: Inquiry, layer: int, head: int) -> _Known | None:
    """Change of the last hidden states with the head's mean in its place, and its rank."""
    rows = inquiry.ask(head_effect.heads, filling=MEAN, quantity="length")
    heads = rows.dropna(subset="head")
    row = row_of(heads, layer, head)
    if row is None:
        return None
    note = say(
        "head_card.effect_note",
        interval=ends(row["low"], row["high"], percent),
        rank=int((heads["mean"] > row["mean"]).sum()) + 1,
        of=len(heads),
    )
    return percent(row["mean"]), note


_FACTS: dict[str, tuple[Table, Callable[[Inquiry, int, int], _Known | None]]] = {
    "behaviour": (head_pattern.TABLE, _behaviour),
    "relation": (dependency_accuracy.TABLE, _relation),
    "coreference": (coreference_accuracy.TABLE, _coreference),
    "norm": (token_type_mixing.TABLE, _norm),
    "offset": (head_offset.TABLE, _offset),
    "sink": (sink.PER_SEQUENCE, _sink),
    "effect": (head_effect.TABLE, _effect),
}
"""Table of each fact, and the function that reads it."""


def chosen_head(row: pd.Series) -> dict[str, object]:
    """Head of a row, the number of heads that it was chosen from, and its accuracy."""
    return {
        "head": head_name(int(row["layer"]), int(row["head"])),
        "tried": count(row["n_tried"]),
        "n": count(row["n"]),
        "accuracy": percent(row["accuracy"]),
        "interval": ends(row["low"], row["high"], percent),
    }
