"""Columns of a correlation's parts within groups and between them."""

from collections.abc import Iterable, Sequence

import pandas as pd

from analysis.statistics.columns import number
from analysis.statistics.table import Column, interval

OF_PAIRS = ("within_heads", "between_heads", "between_layers")
"""The parts of a correlation over the pairs of all heads; between heads is within their layer."""
OF_TOKENS = ("within_sequences", "between_sequences")
OF_HEADS = ("within_layers", "between_layers")
POOLED = "pooled"
"""Name of the level of a correlation that is not divided."""
_OWN = {"spearman": "_spearman", "low": "_spearman_low", "high": "_spearman_high"}


def part_columns(parts: tuple[str, ...], *, intervals: bool = True) -> tuple[Column, ...]:
    """Columns of every part's contribution to `spearman`, and of the part's own correlation."""
    columns = []
    for part in parts:
        adds = "what this level adds to spearman; the levels add up to it"
        own = "correlation on this level by itself; NULL where either side has no spread there"
        columns.append(number(part, adds, "ρ", nullable=True))
        columns.append(number(f"{part}_spearman", own, "ρ", nullable=True))
        columns += interval("ρ", of=f"{part}_spearman") if intervals else ()
    return tuple(columns)


def part_laws(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts add up to the correlation; there are some where there is one."""
    bounds = [f"coalesce({part}_spearman, 0) between -1 - 1e-9 and 1 + 1e-9" for part in parts]
    return (
        f"coalesce(abs({' + '.join(parts)} - spearman), 0) < 1e-9",
        f"(spearman is null) = ({parts[0]} is null)",
        *bounds,
    )


def part_values(parts: tuple[str, ...], values: Iterable[Sequence[float]]) -> dict[str, float]:
    """Return the columns of parts: each part's contribution, its own correlation and its
    interval."""
    return {
        f"{part}{end}": value
        for part, numbers in zip(parts, values, strict=True)
        for end, value in zip(("", *_OWN.values()), numbers, strict=True)
    }


def at_level(parts: tuple[str, ...], level: str) -> str:
    """Return SQL for spearman, low and high of the part that an expression names, or of the whole.

    Args:
        level: an SQL expression, such as a parameter.
    """
    numbers = {
        part: ", ".join(f"{name}: {part}{end}" for name, end in _OWN.items()) for part in parts
    }
    cases = " ".join(f"when '{part}' then {{{of_part}}}" for part, of_part in numbers.items())
    return f"unnest(case {level} {cases} else {{spearman: spearman, low: low, high: high}} end)"


def by_part(frame: pd.DataFrame, parts: tuple[str, ...]) -> pd.DataFrame:
    """Return every row once for each part: `part`, its `contribution`, and its own spearman, low
    and high in place of those of the whole."""
    of_parts = {f"{part}{end}" for part in parts for end in ("", *_OWN.values())}
    kept = frame.drop(columns=[name for name in frame if name in of_parts | {*_OWN}])
    rows = [
        kept.assign(
            part=part,
            contribution=frame[part],
            **{name: frame.get(f"{part}{end}") for name, end in _OWN.items()},
        )
        for part in parts
    ]
    return pd.concat(rows, ignore_index=True)
