"""Lists of pairs by the reader's choices, and how many pairs they are chosen from."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.published.pairs import AMPLIFIED, ATTENUATED
from pages.kit.section import Choices, once
from pages.services.inquiry import Inquiry
from pages.token_pairs import ranking
from pages.words.interval import is_clear
from pages.words.scope import say_here
from pages.words.units import POINTS, in_unit, named_in

PAIR = ("source", "target")
"""Fields that a click on a pair returns."""
DIRECTIONS = ("amplified", "attenuated")
PLACES, ROWS = 10, 24  # of a list of all layers, of a page of one layer
CHANGES = ("mean_delta", "low", "high")
CHANGE, LOW, HIGH = (named_in(POINTS, name) for name in CHANGES)
"""A change in percentage points, and the ends of its interval."""
OF_CHANGE: dict[str, Any] = {"value": CHANGE, "ends": (LOW, HIGH)}
COLUMNS = {
    **dict.fromkeys(("source", "target")),
    **dict.fromkeys((CHANGE, LOW, HIGH), "%+.2f"),
    **dict.fromkeys(("n", "n_sequences")),
    "pmi": "%.2f",
    "relation": None,
}
"""Columns of a table of pairs, with their number formats."""
PRINTED = {"amplified": (AMPLIFIED, ("table", 3)), "attenuated": (ATTENUATED, ("table", 4))}
"""The paper's lists by direction, with their places."""
_LIMIT, _CHANCE = 1_000, 0.05
CONDITIONS = ("effect", "least", "clear", "special", "relation", "text")
_QUOTES = str.maketrans("’", "'")  # in print they look the same


def _selected(choices: Choices) -> dict[str, Any]:
    """Conditions on the pairs of a list."""
    given = {name: choices[name] for name in ("effect", "relation", "text") if name in choices}
    given |= {side: choices[f"{side}_text"] for side in ("source", "target") if "text" in choices}
    return given | {"min_count": choices["least"], "special": choices["special"] == "in"}


@once("layer", "direction", "rank", *CONDITIONS, "source_text", "target_text")
def listed(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Pairs of one layer, with their names in the column `pair`."""
    order = "largest" if choices["direction"] == "both" else choices["direction"]
    of = {"rank": choices["rank"], "clear": choices["clear"] == "only", **_selected(choices)}
    asked = {"layers": [choices["layer"]], "order": order, "limit": _LIMIT}
    return with_pair_names(inquiry.ask(ranking.listed, **asked, **of))


def pages_of(inquiry: Inquiry, choices: Choices) -> list[int]:
    """First and last page of the list; empty if there is only one."""
    pages = -(-len(listed(inquiry, choices)) // ROWS)
    return [1, pages] if pages > 1 else []


def page_of(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Pairs of the list on the picked page."""
    first = ((choices["list_page"] or 1) - 1) * ROWS
    return listed(inquiry, choices).iloc[first : first + ROWS]


@once("ranking", *CONDITIONS)
def top_pairs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """First pairs of every layer in both directions, one list after the other.

    The column `direction` tells the lists apart; `top` is the largest change of all.
    """
    asked = {"layers": list(inquiry.store.layers), "limit": PLACES, "rank": choices["ranking"]}
    asked |= _selected(choices) | {"clear": choices["clear"] == "only"}
    lists = [
        inquiry.ask(ranking.listed, order=name, **asked).assign(direction=name)
        for name in DIRECTIONS
    ]
    frame = pd.concat(lists, ignore_index=True)
    columns = ["layer", "direction", "place", *COLUMNS]
    frame = with_pair_names(frame)[[*columns, "pair"]]
    return frame.assign(top=frame[CHANGE].abs().max())


def in_direction(direction: str, inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """One of both lists."""
    return top_pairs(inquiry, choices).query("direction == @direction")


def compared(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Printed pairs, with those marked that are among the file's first by mean change."""
    return in_both(top_pairs(inquiry, {**choices, "ranking": "mean", "clear": "all"}))


def in_both(found: pd.DataFrame) -> pd.DataFrame:
    """Printed pairs, with those marked that are found in the same layer and direction."""
    rows = [
        (direction, layer, place, *pair)
        for direction, (lists, _) in PRINTED.items()
        for layer, pairs in lists.items()
        for place, pair in enumerate(pairs, start=1)
    ]
    printed = pd.DataFrame(rows, columns=["direction", "layer", "place", "source", "target"])
    return printed.assign(in_both=_read(printed).isin(_read(found)))


def _read(frame: pd.DataFrame) -> pd.MultiIndex:
    """Index of pairs that ignores differences between quotation marks."""
    tokens = {side: frame[side].str.translate(_QUOTES) for side in ("source", "target")}
    return pd.MultiIndex.from_frame(frame[["direction", "layer"]].assign(**tokens))


def tally(inquiry: Inquiry, choices: Choices, layers: Sequence[int]) -> pd.DataFrame:
    """Share of the pairs with an interval whose interval leaves out 0, as a finding."""
    row = inquiry.ask(ranking.tally, layers=list(layers), **_selected(choices)).iloc[0]
    where = say_here("where", layers=len(layers), layer=layers[0])
    shared = {"effect": choices["effect"], "where": where, "sure": row["n_sure"], **row}
    if not row["n_sure"]:
        return pd.DataFrame([{"sentence": 1, "name": "unsure", "value": None, **shared}])
    clear = {"sentence": 1, "name": "clear", "value": row["share"], **shared}
    chance = {"sentence": 1, "name": "chance", "value": _CHANCE, "beside": True}
    return pd.DataFrame([clear, chance, {"sentence": 2, "name": "ways", **shared}])


def main_relations(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Tally of all layers, and the most frequent relation of the listed pairs, as a finding."""
    found = [tally(inquiry, choices, inquiry.store.layers)[:2]]
    for direction, frame in top_pairs(inquiry, choices).groupby("direction"):
        relation = frame["relation"].mode()[0]
        counts = {"n": (frame["relation"] == relation).sum(), "of": len(frame)}
        counts["clear"] = is_clear(frame[LOW], frame[HIGH]).sum()
        row = {"sentence": direction, "name": "listed", "relation": relation, "value": None}
        row["direction"] = say_here(f"direction_{direction}")
        found.append(pd.DataFrame([{**row, **counts}]))
    return pd.concat(found)


def with_pair_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert to percentage points, and name pairs as in the papers: mixed in → receiving."""
    names = frame["source"] + " → " + frame["target"]
    return in_unit(frame, POINTS, CHANGES).assign(pair=names)
