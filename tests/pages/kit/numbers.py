"""Numbers as sentences write them, and where they may come from."""

import re
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

_NUMBER = re.compile(r"(?<![\w.,])[+−-]?\d+(?:,\d{3})*(?:\.\d+)?%?", re.ASCII)
_PLACES = re.compile(
    r"(layer|head|layers|heads|offset|pieces) \d+(?![\d.%])|"
    r"第\d+層|ヘッド\d+|\b(10⁻|rule )\S+|[₀-₉⁰-⁹]+|\d+·10\S+"
)
"""Things called by a number: layers, heads, powers of ten, places in a text."""
IDENTITIES = {"layer", "head", "seq", "pos", "place", "depth", "group", "cluster", "component"}


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order, but for those that are part of a name."""
    return _NUMBER.findall(_PLACES.sub(" ", text.replace("\\", "").replace("*", "")))


def is_among(written: str, values: np.ndarray) -> bool:
    """Return True if a written number is one of these values, rounded, as a share or as points."""
    plain = written.rstrip("%").replace(",", "").replace("−", "-")
    digits = len(plain.partition(".")[2])
    scales = (100,) if written.endswith("%") else (1, 100)
    least = 0.5000001 * 10.0**-digits
    return any(
        np.any(np.abs(np.abs(values) * scale - abs(float(plain))) <= least) for scale in scales
    )


def missing_from(frames: Iterable[pd.DataFrame], written: Iterable[str]) -> set[str]:
    """Return written numbers that frames do not hold, nor their aggregates, formed if needed."""
    frames = list(frames)
    of_numbers = (frame.select_dtypes(["number", "bool"]).astype("float64") for frame in frames)
    held = np.concatenate([[0.0], *(values.to_numpy().ravel() for values in of_numbers)])
    missing = {number for number in written if not is_among(number, held)}
    every = values_of(frames) if missing else np.array([0.0])
    return {number for number in missing if not is_among(number, every)}


def values_of(frames: Iterable[pd.DataFrame]) -> np.ndarray:
    """All numbers of frames, and their aggregates over rows and over rows of a kind.

    These are means, medians, ends, sums of shares and counts.
    """
    found: list[np.ndarray] = [np.array([0.0])]
    for frame in frames:
        plain = frame.reset_index(drop=True)
        of_numbers = plain.select_dtypes(["number", "bool"]).astype("float64")
        of_kinds = [name for name in plain if name not in of_numbers or name in IDENTITIES]
        of_kinds = [name for name in of_kinds if plain[name].map(_can_group).all()][:5]
        found.append(of_numbers.to_numpy().ravel())
        found.append(of_numbers.agg(["mean", "median", "sum"]).to_numpy().ravel())
        found.append(_counts(of_numbers, len(plain)))
        for names in (list(c) for n in (1, 2) for c in combinations(of_kinds, n)):
            values = of_numbers.drop(columns=names, errors="ignore")
            kinds = [plain[name] for name in names]
            groups = values.groupby(kinds, observed=True)
            measured = [getattr(groups, how)() for how in ("mean", "median", "sum", "nunique")]
            sides = [side.groupby(kinds, observed=True).sum() for side in _sides(values)]
            found += [of_groups.to_numpy().ravel() for of_groups in (*measured, *sides)]
            found.append(groups.size().to_numpy())
    every = np.concatenate([part.astype("float64") for part in found])
    return every[np.isfinite(every)]


def _counts(values: pd.DataFrame, n: int) -> np.ndarray:
    """Count the rows, the values that are apart, and those on a side of 0 or 1."""
    counts = [side.sum().to_numpy() for side in _sides(values)]
    return np.concatenate([[n], values.nunique().to_numpy(), *counts])


def _sides(values: pd.DataFrame) -> list[pd.DataFrame]:
    return [values > 0, values < 0, values > 1, values < 1, values == 1, values.notna()]


def _can_group(value: Any) -> bool:
    return isinstance(value, (str, int, float, np.generic)) or value is None
