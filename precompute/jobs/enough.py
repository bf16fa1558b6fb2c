"""Stopping rule of a run: the width of its statistics' intervals."""

import duckdb

from analysis.errors import UserError
from analysis.statistics.question import quoted_files
from precompute.jobs.plan import Plan
from precompute.passes import STATISTICS

FIRST = 128
"""Number of sequences in the first round of a run with --until; each later round doubles it."""


def check_intervals(statistics: list[str]) -> None:
    """Raise UserError if a run cannot stop by the intervals of these statistics."""
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


def widest_interval(plan: Plan, statistics: list[str]) -> tuple[float, str]:
    """Return the widest 95% interval in the finished tables of a plan, and its statistic; without a
    name if no row has one yet."""
    widest = (0.0, "")
    for name in statistics:
        file = quoted_files(str(plan.table_file(STATISTICS[name])))
        with duckdb.connect() as store:
            [(width,)] = store.sql(f"select max(high - low) from read_parquet({file})").fetchall()
        widest = widest if width is None else max(widest, (width, name))
    return widest


def _has_interval(name: str) -> bool:
    return {"low", "high"} <= {column.name for column in STATISTICS[name].columns}
