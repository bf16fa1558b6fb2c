"""Whether weight and norm pull against each other within heads, and what ρ of all pairs is made of,
in words."""

from typing import Any

import pandas as pd

from pages.ui.words.interval import with_interval
from pages.ui.words.levels import carried
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import change, count
from pages.ui.words.say import say

_WEAK = 0.1  # a ρ nearer to 0 is no tendency worth mentioning


def lowest_within(rho: pd.DataFrame) -> Any:
    """The row of the type whose heads pull most against each other in the median; None if no head
    can be ranked.

    Args:
        rho: rows of `attention_norm_correlation.by_type`.
    """
    known = rho.dropna(subset="median")
    return None if known.empty else known.nsmallest(1, "median").iloc[0]


def within_heads(row: Any, signs: pd.DataFrame) -> str:
    """What the heads do by themselves with the type of a row.

    Args:
        signs: rows of `attention_norm_correlation.signs`.
    """
    median, low, high = row[["median", "median_low", "median_high"]]
    unsure = pd.isna(low)
    kind = "nowhere"
    if median < -_WEAK and (unsure or high < 0):
        kind = "against"
    elif median > _WEAK and (unsure or low > 0):
        kind = "together"
    heads = signs.set_index("token_type").loc[row["token_type"]]
    return say(
        f"attention_norms.relation.within_{kind}",
        type=token_type_name(row["token_type"]),
        median=with_interval(median, low, high, change),
        ranked=count(heads["n_ranked"]),
        heads=count(heads["n_heads"]),
        below=count(heads["n_below"]),
    )


def together(rho: pd.DataFrame, parts: tuple[str, ...]) -> str:
    """The type with the lowest ρ over the pairs of all heads, and what that is the sum of; nothing
    where none can be ranked."""
    known = rho.dropna(subset="spearman")
    if known.empty:
        return ""
    row = known.nsmallest(1, "spearman").iloc[0]
    return say(
        "attention_norms.relation.together",
        type=token_type_name(row["token_type"]),
        rho=change(row["spearman"]),
        n=count(row["n"]),
        carried=carried(row, parts),
    )
