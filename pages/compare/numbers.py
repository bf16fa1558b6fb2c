"""Numbers of the chosen files and their differences from the first, computed once per file."""

from functools import partial

import pandas as pd

from analysis.comparison.account import account
from analysis.comparison.beside import differences, own_numbers, with_correction
from analysis.comparison.numbers import ALL_LAYERS, NUMBERS, OF_HEADS, unit_values
from pages.ui.store.inquiry import Asked, Inquiry
from pages.ui.store.open_file import Store
from pages.ui.words.numbers import change
from pages.ui.words.say import plain, say

_OF_DIFFERENCES = (
    *("file", "number", "name", "layer", "difference", "low", "high", "p", "n", "n_other"),
)
LEVEL = 0.05
"""False discovery rate."""
_LEAST_WIDTH = 1e-12  # of an interval as the unit of a distance


def number_name(number: str) -> str:
    """Display name of a number in charts."""
    return say(f"compare.of_number.{number}")


def numbers_of(inquiry: Inquiry, compared: list[Store], *, by_layer: bool) -> pd.DataFrame:
    """Numbers of every file by layer, or as means over layers.

    Columns: file, number, name, layer, mean, low, high, n, in the order of `NUMBERS`. With several
    files, numbers that only one of them has are left out.
    """
    parts = [inquiry.ask_together(_own, file).assign(file=file.label) for file in compared]
    frame = _named(pd.concat(parts, ignore_index=True), by_layer=by_layer)
    if len(compared) == 1:
        return frame
    n_files = frame.groupby("number")["file"].transform("nunique")
    return frame[n_files > 1]


def differences_of(inquiry: Inquiry, compared: list[Store], *, by_layer: bool) -> pd.DataFrame:
    """Differences of the files from the first one, by layer or as means over layers.

    Columns: file, number, name, layer, difference, low, high, p, n, n_other, is_paired, and q and
    is_clear of `with_correction`.
    """
    first, *others = compared
    if not others:
        return pd.DataFrame(columns=_OF_DIFFERENCES)
    parts = [
        inquiry.ask_together(_differences, first, file).assign(file=file.label) for file in others
    ]
    return with_correction(_named(pd.concat(parts, ignore_index=True), by_layer=by_layer))


def most_different(changes: pd.DataFrame) -> pd.Series | None:
    """Row with the largest difference relative to its interval; None if no row has an interval."""
    sure = changes.dropna(subset="is_clear")
    if sure.empty:
        return None
    half = (sure["high"] - sure["low"]).clip(lower=_LEAST_WIDTH) / 2
    distance = sure["difference"].abs() / half
    return sure.assign(distance=distance).sort_values("distance", ascending=False).iloc[0]


change_written = partial(change, digits=4)
"""A difference with its sign."""


def pairing(changes: pd.DataFrame) -> str:
    """Say which files are compared text by text and which only by their means."""
    sentences = []
    for file, part in changes[~changes["number"].isin(OF_HEADS)].groupby("file", sort=False):
        word = "compare.paired" if part["is_paired"].all() else "compare.unpaired"
        sentences.append(say(word, file=plain(file), n=int(part["n"].max())))
    return " ".join(sentences)


def _named(rows: pd.DataFrame, *, by_layer: bool) -> pd.DataFrame:
    frame = rows[(rows["layer"] != ALL_LAYERS) == by_layer]
    names = frame["number"].map({number: number_name(number) for number in NUMBERS})
    place = frame["number"].map(NUMBERS.index)
    return frame.assign(name=names, place=place).sort_values(["place", "layer"], kind="stable")


def _own(asked: Asked, store: Store) -> pd.DataFrame:
    return own_numbers(asked.ask(store, unit_values), seed=int(store.run["seed"]))


def _differences(asked: Asked, first: Store, other: Store) -> pd.DataFrame:
    sides = ((asked.ask(store, account), asked.ask(store, unit_values)) for store in (first, other))
    return differences(*sides, seed=int(first.run["seed"]))
