"""Sentences on the correlation of weight and norm: within heads, and the parts of the pooled ρ."""

from typing import Any

import pandas as pd

from pages.ui.words.interval import with_interval
from pages.ui.words.levels import POOLED, carried
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import change, count
from pages.ui.words.say import say

WEAK = 0.1  # a ρ nearer to 0 is no tendency worth mentioning


def lowest_within(rho: pd.DataFrame) -> Any:
    """Row of the token type with the lowest median ρ over heads; None if no head has a ρ.

    Args:
        rho: rows of `attention_norm_correlation.by_type`.
    """
    known = rho.dropna(subset="median")
    return None if known.empty else known.nsmallest(1, "median").iloc[0]


def weight_and_norm(
    rho: pd.DataFrame, signs: pd.DataFrame, parts: tuple[str, ...], level: str = ""
) -> str:
    """Report the lowest median ρ within heads, and the parts of the lowest pooled ρ.

    Args:
        level: if pooled, that comes first.
        rho: rows of `attention_norm_correlation.by_type`; some head has a ρ.
        signs: rows of `attention_norm_correlation.signs`.
    """
    within, known = lowest_within(rho), rho.dropna(subset="spearman")
    median, low, high = within[["median", "median_low", "median_high"]]
    unsure, kind = pd.isna(low), "nowhere"
    if median < -WEAK and (unsure or high < 0):
        kind = "against"
    elif median > WEAK and (unsure or low > 0):
        kind = "together"
    sentences = [_say(f"within_{kind}", **_heads(within, signs))]
    if len(known):
        row = known.nsmallest(1, "spearman").iloc[0]
        numbers = {"rho": change(row["spearman"]), "n": count(row["n"])}
        sentences.append(
            _say("pooled", **numbers, **_heads(row, signs), carried=carried(row, parts))
        )
        if row["token_type"] != within["token_type"] and pd.notna(row["median"]):
            sentences.append(_say("pooled_within", **_heads(row, signs)))
    if level == POOLED:
        sentences = [*sentences[1:], sentences[0]]
    return " ".join(sentences)


def _heads(row: pd.Series, signs: pd.DataFrame) -> dict[str, str]:
    """Words for a token type: its median ρ over heads, the heads with a ρ, and those below 0."""
    heads = signs.set_index("token_type").loc[row["token_type"]]
    return {
        "type": token_type_name(row["token_type"]),
        "median": with_interval(row["median"], row["median_low"], row["median_high"], change),
        "ranked": count(heads["n_ranked"]),
        "heads": count(heads["n_heads"]),
        "below": count(heads["n_below"]),
    }


def _say(name: str, **values: str) -> str:
    return say(f"norms.relation.{name}", **values)
