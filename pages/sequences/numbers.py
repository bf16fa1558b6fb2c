"""Numbers of every sequence of the file, and the rank of one sequence among them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from analysis.statistics import corpus
from analysis.statistics.heads import head_pattern
from analysis.statistics.mixing import mixing_ratio
from analysis.statistics.norms import norm_dispersion
from analysis.statistics.pairs import relation_share
from analysis.statistics.table import Table
from pages.ui.head.habits import habit_name
from pages.ui.live import readings
from pages.ui.store.inquiry import Asked, Inquiry
from pages.ui.store.open_file import Store
from pages.ui.words.names import effect_name, scope_name
from pages.ui.words.scope import say_here

LEAST = 5
"""Least number of sequences for a standard deviation."""
_COLUMNS = ("number", "value", "mean", "std", "distance", "percentile", "further", "n_sequences")
_HARDLY = 1e-9  # least relative standard deviation of a number that varies


@dataclass(frozen=True)
class Numbers:
    """A query for numbers of every sequence in one table, and their display names."""

    table: Table
    question: Callable[..., pd.DataFrame]
    called: Callable[[str], str]


ALL = (
    Numbers(
        mixing_ratio.PER_SEQUENCE,
        mixing_ratio.by_sequence,
        lambda name: say_here("ratio_of", scope=scope_name(name)),
    ),
    Numbers(
        head_pattern.PER_SEQUENCE,
        head_pattern.by_sequence,
        lambda name: say_here("habit_of", habit=habit_name(name)),
    ),
    Numbers(
        relation_share.PER_SEQUENCE,
        relation_share.by_sequence,
        lambda name: say_here("change_of", effect=effect_name(name)),
    ),
    Numbers(
        norm_dispersion.PER_TOKEN, norm_dispersion.by_sequence, lambda _: say_here("input_norm")
    ),
    Numbers(corpus.SEQUENCES, corpus.lengths, lambda _: say_here("n_tokens")),
)


def numbers_of_all(inquiry: Inquiry) -> pd.DataFrame:
    """All numbers of every sequence of the file: seq, number (display name), value."""
    return _called(inquiry.ask_together(_of_file, inquiry.store))


def largest_of_all(inquiry: Inquiry) -> pd.Series:
    """Return `largest_distances` of the sequences of the file."""
    return inquiry.ask_together(_largest_of_file, inquiry.store)


def numbers_of(store: Store, reading: readings.Reading) -> pd.DataFrame:
    """Numbers of a sequence of the reader's own, as a file would hold them: seq, number, value."""
    held = _held(store)
    answers = readings.answers(store, reading, [numbers.question for numbers in held])
    return _called(_joined(held, answers))


def _of_file(asked: Asked, store: Store) -> pd.DataFrame:
    held = _held(store)
    return _joined(held, [asked.ask(store, numbers.question) for numbers in held])


def _largest_of_file(asked: Asked, store: Store) -> pd.Series:
    return largest_distances(_of_file(asked, store))


def _held(store: Store) -> list[Numbers]:
    return [numbers for numbers in ALL if store.holds(numbers.table)]


def _joined(held: list[Numbers], answers: list[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate answers, with a categorical column of table and name.

    Categories keep millions of rows small.
    """
    names = [
        (f"{numbers.table.name}/" + answer["name"]).astype("category")
        for numbers, answer in zip(held, answers, strict=True)
    ]
    rows = pd.concat(answers, ignore_index=True)[["seq", "value"]]
    return rows.assign(number=union_categoricals(names))


def _called(rows: pd.DataFrame) -> pd.DataFrame:
    """Replace the names of numbers by display names in the reader's language."""
    called = {numbers.table.name: numbers.called for numbers in ALL}
    categories = rows["number"].cat.categories
    names = [called[table](name) for table, _, name in categories.str.partition("/")]
    return rows.assign(number=rows["number"].cat.rename_categories(names))


def standing(numbers: pd.DataFrame, own: pd.Series) -> pd.DataFrame:
    """Compare the numbers of one sequence with those of the others.

    Args:
        numbers: as `numbers_of_all` returns them, without that sequence.
        own: its numbers by their names.

    Returns:
        number, value, mean and std (of the others), distance (from their mean, in std), percentile
        (share of the others below, ties half), further (share of the others that are nearer to the
        mean) and n_sequences (the others), the furthest first. Distance, percentile and further are
        NaN for numbers that hardly vary, or that fewer than `LEAST` others have.
    """
    groups = numbers.groupby("number", observed=True)["value"]
    others = {name: values.dropna() for name, values in groups}
    none = pd.Series(dtype="float64")
    rows = [_row(str(n), float(own[n]), others.get(n, none)) for n in own.dropna().index]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame.sort_values("distance", key=abs, ascending=False, kind="stable", ignore_index=True)


def _row(number: str, value: float, others: pd.Series) -> tuple:
    mean, spread = others.mean(), others.std()
    known = (number, value, mean, spread)
    if len(others) < LEAST or not spread > _HARDLY * others.abs().max():
        return *known, np.nan, np.nan, np.nan, len(others)
    percentile = (others < value).mean() + (others == value).mean() / 2
    further = ((others - mean).abs() < abs(value - mean)).mean()
    return *known, (value - mean) / spread, percentile, further, len(others)


def largest_distances(numbers: pd.DataFrame) -> pd.Series:
    """Largest distance of any number from the mean of the other sequences, by sequence.

    Distances are in standard deviations of the others. Numbers that do not vary are left out.
    """
    groups = numbers.groupby("number", observed=True)["value"]
    n, mean, std = (groups.transform(statistic) for statistic in ("count", "mean", "std"))
    varies = (n > LEAST) & (std > _HARDLY * mean.abs())
    # mean and variance without the sequence itself
    deviation = numbers["value"] - mean
    others_mean = mean - deviation / (n - 1)
    squares = (n - 1) * std**2 - deviation**2 * n / (n - 1)
    others_std = np.sqrt(np.maximum(squares, 0.0) / (n - 2))
    distance = (numbers["value"] - others_mean).abs() / others_std
    return distance.where(varies).groupby(numbers["seq"]).max()
