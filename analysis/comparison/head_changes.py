"""Changes of the same heads between two files, by head and text."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.comparison.account import Account, reasons, shared_sequences
from analysis.comparison.differences import paired_differences
from analysis.errors import UnknownName
from analysis.habits import HABITS, TOKEN_TYPES
from analysis.statistics.heads.single_heads import SEQUENCE_HEAD_PATTERN
from analysis.statistics.question import frame_of

TABLE = SEQUENCE_HEAD_PATTERN
"""The table that holds the habits."""


def held_habits(store: DuckDBPyConnection) -> list[str]:
    """Return the habits that have values in the file."""
    counts = frame_of(
        store, "select count(columns($habits)) from sequence_head_pattern", {"habits": list(HABITS)}
    )
    return [name for name, n in zip(HABITS, counts.iloc[0], strict=True) if n]


def habit_of_heads(store: DuckDBPyConnection, *, habit: str, weighing: str) -> pd.DataFrame:
    """Return one habit of every head in every text; attention to an absent token type is 0.

    Returns:
        a row per text, a column per layer and head; NaN where a text has no such pair of tokens.

    Raises:
        UnknownName: if no habit of heads is called so.
    """
    if habit not in HABITS:
        raise UnknownName("habit", habit, HABITS)
    rows = frame_of(
        store,
        """
        select seq, layer::int as layer, head::int as head, columns($habits)::double
        from sequence_head_pattern_weighing
        where weighing = $weighing
        order by all
        """,
        {"weighing": weighing, "habits": [habit]},
    )
    wide = rows.pivot(index="seq", columns=["layer", "head"], values=habit)
    return wide.fillna(0.0) if habit in TOKEN_TYPES else wide


def head_differences(
    one: tuple[Account, pd.DataFrame], other: tuple[Account, pd.DataFrame], *, seed: int
) -> pd.DataFrame:
    """Return the mean change of a habit per head, over the texts of both files.

    Args:
        one, other: the file's account of itself and its `habit_of_heads`.

    Returns:
        layer, head, one, other (means), difference, low, high, p, n.

    Raises:
        ValueError: if the files cannot be compared as `head_by_head`.
    """
    if obstacles := reasons(one[0], other[0], "head_by_head"):
        raise ValueError(f"the files have other heads or texts: {', '.join(obstacles)}")
    units = shared_sequences(one[0], other[0])
    heads = one[1].columns
    sides = [wide.reindex(index=units, columns=heads) for _, wide in (one, other)]
    both = sides[0].notna() & sides[1].notna()
    before, after = (side.where(both) for side in sides)
    changes = paired_differences(before.to_numpy(), after.to_numpy(), seed=seed)
    means = {"one": before.mean().to_numpy(), "other": after.mean().to_numpy()}
    return heads.to_frame(index=False).assign(**means, **changes._asdict())
