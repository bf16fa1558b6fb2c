"""Stopping rule of a run: the width of its statistics' intervals."""

from dataclasses import dataclass

import duckdb

from analysis.errors import UserError
from analysis.statistics.question import quoted_files
from precompute.jobs.plan import Plan
from precompute.passes import STATISTICS

FIRST = 128
"""Number of sequences in the first round of a run with --until; each later round doubles it."""


@dataclass(frozen=True)
class Widest:
    """The widest 95% interval among all rows of some statistics, and its row."""

    statistic: str
    width: float

    def __str__(self) -> str:
        return f"{self.width:.4g} ({self.statistic})"


def check_intervals(statistics: list[str]) -> None:
    """Raise UserError if a run cannot stop by the intervals of these statistics.

    Raises:
        UserError: none is named, or one has no interval; naming the statistics with intervals.
    """
    if not statistics:
        raise UserError(
            "--until needs --statistics: name those whose intervals decide, such as "
            "token_type_mixing."
        )
    if without := [name for name in statistics if not _has_interval(name)]:
        known = ", ".join(name for name in STATISTICS if _has_interval(name))
        raise UserError(
            f"--until goes by 95% intervals, and {without[0]} has none. Name some of: {known}."
        )


def widest_interval(plan: Plan, statistics: list[str]) -> Widest | None:
    """Return the widest interval in the finished tables of a plan; None if no row has one yet."""
    intervals: list[Widest] = []
    for name in statistics:
        file = quoted_files(str(plan.table_file(STATISTICS[name])))
        query = f"select max(high - low) from read_parquet({file})"
        with duckdb.connect() as store:
            [(width,)] = store.execute(query).fetchall()
        if width is not None:
            intervals.append(Widest(name, width))
    return max(intervals, key=lambda interval: interval.width, default=None)


def _has_interval(name: str) -> bool:
    return {"low", "high"} <= {column.name for column in STATISTICS[name].values}
