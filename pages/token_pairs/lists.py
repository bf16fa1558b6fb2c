"""Lists of pairs: query arguments, summaries, and changes in percentage points."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.statistics.pairs import pair_delta, pair_ranking
from pages.ui.store.inquiry import Inquiry
from pages.ui.words.interval import is_clear
from pages.ui.words.names import effect_name
from pages.ui.words.numbers import count, percent, points
from pages.ui.words.scope import say_here
from pages.ui.words.units import POINTS, in_unit, named_in

DIRECTIONS = ("amplified", "attenuated")
PLACES = 10
_CONDITIONS = ("effect", "min_count", "text", "relation", "special", "source", "target")
_CHANGES = ("mean_delta", "low", "high")
CHANGE, LOW, HIGH = (named_in(POINTS, name) for name in _CHANGES)
"""A change in percentage points, and the ends of its interval."""
COLUMNS = {
    **dict.fromkeys(("source", "target")),
    **dict.fromkeys((CHANGE, LOW, HIGH), "%+.2f"),
    **dict.fromkeys(("n", "n_sequences")),
    "pmi": "%.2f",
    "relation": None,
}
"""Columns of a table of pairs, with their number formats."""


def top_pairs(inquiry: Inquiry, **choices: Any) -> pd.DataFrame:
    """First pairs of every layer in both directions, one list after the other.

    The column `direction` tells the lists apart. Choices are further arguments of `pair_delta.top`.
    """
    asked = {"layer": None, "limit": PLACES, **choices}
    lists = [
        inquiry.ask(pair_delta.top, amplified=name == "amplified", **asked).assign(direction=name)
        for name in DIRECTIONS
    ]
    return pd.concat(lists, ignore_index=True)


def tally_sentence(
    inquiry: Inquiry, where: str, layers: Sequence[int], chosen: Mapping[str, Any]
) -> str:
    """Sentence on the number of pairs that a list is chosen from, and of those clear of 0."""
    conditions = {name: chosen[name] for name in _CONDITIONS if name in chosen}
    row = inquiry.ask(pair_ranking.tally, layers=list(layers), **conditions).iloc[0]
    return say_here(
        "tallied" if row["n_sure"] else "tallied_unsure",
        where=where,
        effect=effect_name(chosen["effect"]),
        n=count(row["n_pairs"]),
        sure=count(row["n_sure"]),
        clear=count(row["n_clear"]),
        share=percent(row["share"]),
        amplified=count(row["n_amplified"]),
        attenuated=count(row["n_attenuated"]),
    )


def change(pair: pd.Series) -> str:
    """Format a pair's mean change; say whether its interval holds 0, or is missing."""
    low, high = pair["low"], pair["high"]
    kind = "missing" if pd.isna(low) else "clear" if is_clear(low, high) else "crossing"
    delta, low, high = map(points, (pair["mean_delta"], low, high))
    return say_here(f"change_{kind}", delta=delta, low=low, high=high)


def in_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert changes and their intervals to percentage points."""
    return in_unit(frame, POINTS, _CHANGES)


def pair_name(source: str, target: str) -> str:
    """Name of a pair as in the papers: the token mixed in, then the token that receives it."""
    return f"{source} → {target}"


def with_pair_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert to percentage points, and add the names of the pairs in the column `pair`."""
    return in_points(frame).assign(pair=[*map(pair_name, frame["source"], frame["target"])])
