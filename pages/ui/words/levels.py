"""Levels that a correlation is divided into, and the part with most of it."""

from typing import Any

import pandas as pd

from analysis.statistics.parts import by_part
from pages.ui.words.columns import title
from pages.ui.words.interval import is_clear, with_interval
from pages.ui.words.numbers import change
from pages.ui.words.say import say

POOLED = "pooled"
"""Level of the pooled correlation."""


def level_names(parts: tuple[str, ...]) -> dict[str, str]:
    """Return the names of the levels, with that of the pooled correlation last."""
    return {level: title(level) for level in (*parts, POOLED)}


def of_level(frame: pd.DataFrame, level: str) -> pd.DataFrame:
    """Rows with ρ and its interval at a level."""
    return frame if level == POOLED else by_part(frame, (level,))


def carrier(row: Any, parts: tuple[str, ...]) -> str:
    """Largest part of a correlation, in its direction."""
    return max(parts, key=lambda part: row[part] * (1 if row["spearman"] > 0 else -1))


def carried(row: Any, parts: tuple[str, ...]) -> str:
    """Format the parts of a correlation; say whether the largest is clear of 0 by itself."""
    most = carrier(row, parts)
    own, low, high = (row[f"{most}_spearman{end}"] for end in ("", "_low", "_high"))
    step = "unsure" if pd.isna(low) else "clear" if is_clear(low, high) else "unclear"
    listed = [
        say("level.part", level=title(part), contribution=change(row[part])) for part in parts
    ]
    return say(
        "level.carried",
        parts=say("list.comma").join(listed),
        carrier=title(most),
        own=with_interval(own, low, high, change),
        clear=say(f"level.{step}"),
    )
