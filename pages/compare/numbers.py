"""Numbers, heads and pairs of the chosen files, and their differences from the open one."""

from typing import Any

import pandas as pd

from analysis.comparison.account import account, training_step
from analysis.comparison.differences import differences, own_numbers, with_correction
from analysis.comparison.heads import (
    divergences,
    habit_of_heads,
    head_differences,
    head_profiles,
    held_habits,
    matched_heads,
)
from analysis.comparison.numbers import ALL_LAYERS, NUMBERS, unit_values
from analysis.comparison.pair_changes import changed_pairs, pairs_with_error
from pages.compare.files import files_of, reasons_of
from pages.kit.habits import HABITS
from pages.kit.head_choice import head_name
from pages.kit.section import Choices, once
from pages.services.inquiry import Asked, Inquiry
from pages.services.open_file import Store
from pages.words.say import say

LEVEL = 0.05
"""False discovery rate."""
_LEAST_WIDTH = 1e-12  # of an interval as the unit of a distance
_SHOWN, _LISTED = 15, 300


def number_name(number: str) -> str:
    """Display name of a number in charts."""
    return say(f"compare.of_number.{number}")


def numbers_of(inquiry: Inquiry, choices: Choices, *, by_layer: bool) -> pd.DataFrame:
    """Numbers of every file by layer, or as means over layers; of several, those of two at least.

    Columns: file, number, name, layer, mean, low, high, n, in the order of `NUMBERS`.
    """
    frame = _named(_all_numbers(inquiry, choices), by_layer=by_layer)
    n_files = frame.groupby("number")["file"].transform("nunique")
    return frame[n_files >= min(len(choices["files"]), 2)]


@once("files")
def _all_numbers(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    compared = files_of(inquiry, choices)
    parts = [inquiry.ask_together(_own, file).assign(file=file.label) for file in compared]
    return pd.concat(parts, ignore_index=True)


def differences_of(inquiry: Inquiry, choices: Choices, *, by_layer: bool) -> pd.DataFrame:
    """Differences of the files from the first one, by layer or as means over layers.

    Columns: file, number, name, layer, difference, low, high, p, n, n_other, is_paired, and q and
    is_clear of `with_correction`; empty for a single file.
    """
    every = _all_differences(inquiry, choices)
    return every if every.empty else with_correction(_named(every, by_layer=by_layer))


@once("files")
def _all_differences(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    first, *others = files_of(inquiry, choices)
    parts = [
        inquiry.ask_together(_differences, first, file).assign(file=file.label) for file in others
    ]
    return pd.concat([pd.DataFrame(), *parts], ignore_index=True)


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


def of_files(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """The picked number by layer; nothing if files differ in their depth."""
    frame = numbers_of(inquiry, choices, by_layer=True)
    depths = {file.run["n_layers"] for file in files_of(inquiry, choices)}
    return frame[(frame["number"] == choices["number"]) & (len(depths) == 1)]


def by_depth(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """The picked number by depth, first layer 0 and last 1, if files differ in that."""
    if len(of_files(inquiry, choices)):
        return pd.DataFrame()
    frame = numbers_of(inquiry, choices, by_layer=True)
    frame = frame[frame["number"] == choices["number"]]
    last = {file.label: max(file.run["n_layers"] - 1, 1) for file in files_of(inquiry, choices)}
    return frame.assign(depth=(frame["layer"] - 1) / frame["file"].map(last).astype(float))


def by_layer(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Differences of the picked number by layer; none between files of different depth."""
    frame = differences_of(inquiry, choices, by_layer=True)
    if frame.empty or of_files(inquiry, choices).empty:
        return pd.DataFrame()
    return frame[frame["number"] == choices["number"]]


def most_different(changes: pd.DataFrame) -> pd.Series:
    """Row with the largest difference relative to its interval; the first one without intervals."""
    half = (changes["high"] - changes["low"]).clip(lower=_LEAST_WIDTH) / 2
    distance = (changes["difference"].abs() / half).fillna(-1.0)
    return changes.loc[distance.sort_values(ascending=False, kind="stable").index[0]]


def over_steps(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """The picked number over the steps of a training; empty without two checkpoints of one."""
    first, *others = files_of(inquiry, choices)
    alike = [of for of in others if not reasons_of(inquiry, first, of, "training")]
    steps = {of.label: training_step(of.run["model"])[1] for of in (first, *alike)}
    if not alike or None in steps.values():
        return pd.DataFrame()
    frame = numbers_of(inquiry, choices, by_layer=False)
    frame = frame[(frame["number"] == choices["number"]) & frame["file"].isin(list(steps))]
    frame = frame.assign(step_of_training=frame["file"].map(steps).astype("int64"))
    return frame.sort_values("step_of_training")


def habits(inquiry: Inquiry, choices: Choices) -> list[str]:
    """Habits of heads that both files hold; none if heads of one number are different heads."""
    first, other = files_of(inquiry, choices, "sides")
    if reasons_of(inquiry, first, other, "head_by_head"):
        return []
    held = [inquiry.asked.ask(of, held_habits) for of in (first, other)]
    return [habit for habit in HABITS if all(habit in of for of in held)]


@once("sides", "quantity", "weighing")
def head_changes(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Change of a habit of every head over the texts of both files, tested with correction."""
    if choices["quantity"] is None:
        return pd.DataFrame()
    of = {"habit": choices["quantity"], "weighing": choices["weighing"]}
    changes = inquiry.ask_together(_changes, *files_of(inquiry, choices, "sides"), **of)
    return changes.assign(dotless=~(changes["q"] > LEVEL))


def _changes(asked: Asked, *stores: Store, **of: Any) -> pd.DataFrame:
    sides = ((asked.ask(one, account), asked.ask(one, habit_of_heads, **of)) for one in stores)
    changes = with_correction(head_differences(*sides, seed=int(stores[0].run["seed"])))
    return changes.assign(differs=changes["q"] <= LEVEL)


@once("sides", "profile")
def matches(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """A row per head of the open file with the head that it is matched with."""
    if choices["profile"] is None:
        return pd.DataFrame()
    sides, of = files_of(inquiry, choices, "sides"), {"profile": choices["profile"]}
    own, beside = (inquiry.asked.ask(side, head_profiles, **of) for side in sides)
    beside = beside.reindex(index=own.index, columns=own.columns, fill_value=0.0)
    found = matched_heads(divergences(own.to_numpy(), beside.to_numpy()))
    names = pd.Series([head_name(int(layer), int(head)) for layer, head in own.index])
    return pd.DataFrame(
        {
            "place": names.index + 1,
            "own": names,
            "match": found.match + 1,
            "matched_with": names.to_numpy()[found.match],
            "divergence": found.divergence,
            "to_itself": found.to_itself,
            "is_same": found.match == names.index,
            "layer": own.index.get_level_values("layer").astype(int),
        }
    )


@once("sides", "layer", "effect", "least")
def pairs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Pairs that both files have, those first whose rank differs most."""
    of = {"layer": choices["layer"], "effect": choices["effect"], "min_count": choices["least"]}
    changed = inquiry.ask_together(_pairs, *files_of(inquiry, choices, "sides"), **of)
    return changed.assign(name=changed["source_token"] + " → " + changed["target_token"])


def _pairs(asked: Asked, *stores: Store, **of: Any) -> pd.DataFrame:
    return changed_pairs(*(asked.ask(store, pairs_with_error, **of) for store in stores))


def shown_pairs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Pairs of the picked kind in the picked order, at most 300."""
    frame = pairs(inquiry, choices)
    kinds = {"clear": frame["is_clear"], "differs": frame["q"] <= LEVEL, "all": frame["n_one"] > 0}
    kept = frame[kinds[choices["shown"]]]
    if choices["order"] == "difference":
        kept = kept.sort_values("difference", key=abs, ascending=False, kind="stable")
    return kept.head(_LISTED)


def pairs_by_file(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """A row per shown pair and file, with its mean, interval, rank and n."""
    kept, parts = shown_pairs(inquiry, choices).head(_SHOWN), []
    for side, end in zip(files_of(inquiry, choices, "sides"), ("_one", "_other"), strict=True):
        of = {"name": kept["name"], "file": side.label, "mean_delta": kept[f"mean{end}"]}
        of |= {name: kept[f"{name}{end}"] for name in ("low", "high", "rank", "n")}
        parts.append(pd.DataFrame(of).astype({"rank": "int64"}))
    return pd.concat(parts, ignore_index=True)
