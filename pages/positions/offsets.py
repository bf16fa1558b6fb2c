"""Score and attention offsets of heads: ways of counting, agreement, and the head picker."""

import pandas as pd

from analysis.statistics.positions import head_offset
from analysis.statistics.positions.head_offset import COUNTINGS, KERNEL
from pages.ui.head.choice import Head, head_with_most
from pages.ui.head.picker import pick_head
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import side_of
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

DEPENDS = 0.1
"""Least share of a head's variance explained by the offset for a position-dependent head."""


def heads_compared(inquiry: Inquiry, counting: str) -> pd.DataFrame:
    """Every head with its offsets by one way of counting, as `score` and `attention`."""
    heads = inquiry.ask(head_offset.heads).dropna(subset=list(COUNTINGS[counting]))
    score, attention = (heads[name].astype("int64") for name in COUNTINGS[counting])
    agree, distance = score == attention, (score - attention).abs()
    return heads.assign(score=score, attention=attention, agree=agree, distance=distance)


def counting_picker(view: View) -> str:
    """Let the reader pick a way of counting.

    Kernels exist only for scores with a term for the offset; they come first there.
    """
    others = [counting for counting in COUNTINGS if counting != KERNEL]
    return view.pick("counting", [KERNEL, *others] if view.store.knows_offsets else others)


def at_zero(heads: pd.DataFrame) -> int:
    """Count the heads of `heads_compared` that agree at offset 0, where nothing is shifted."""
    return int((heads["agree"] & (heads["attention"] == 0)).sum())


def agreement_at_zero(heads: pd.DataFrame) -> str:
    """Sentence on the number of heads that agree at offset 0; empty if none does."""
    zero, same = at_zero(heads), int(heads["agree"].sum())
    return say("positions.claim.at_zero", zero=zero, same=same) if zero else ""


def agreement_words(row: pd.Series) -> dict[str, str]:
    """Format the share of heads that agree, its interval, and the share expected by chance.

    With too few heads for an interval, the words say so.
    """
    low, high = map(percent, row[["agreement_low", "agreement_high"]])
    kind = "no_interval" if pd.isna(row["agreement_low"]) else "between"
    between = say(f"positions.claim.{kind}", low=low, high=high)
    return {"between": between, **row[["agreement", "chance"]].map(percent)}


def beside_chance(row: pd.Series) -> str:
    """Say whether the interval of the agreement is clear of chance."""
    side = side_of(*row[["agreement_low", "agreement_high", "chance"]])
    return say(f"positions.claim.verdict_{side}")


def agreement_of(inquiry: Inquiry, counting: str, least: float) -> pd.Series | None:
    """Agreement over all heads whose position dependence is at least `least`; None without any."""
    frame = inquiry.ask(head_offset.agreement, counting=counting, min_dependence=least)
    frame = frame[frame["layer"].isna()]
    return None if frame.empty else frame.iloc[0]


def agreement_of_dependent(inquiry: Inquiry, counting: str) -> str:
    """Sentence on the agreement of the position-dependent heads."""
    some = agreement_of(inquiry, counting, DEPENDS)
    if some is None:
        return ""
    heads = heads_compared(inquiry, counting)
    zero = at_zero(heads[heads["dependence"] >= DEPENDS])
    counts = {"least": DEPENDS, "n": count(some["n_heads"]), "zero": zero}
    return say("positions.claim.finding_some", **counts, **agreement_words(some))


def pick_positions_head(view: View) -> Head:
    """Return the picked head; by default the most position-dependent one."""
    default = head_with_most(view.ask(head_offset.heads), "dependence")
    return pick_head(view, default=default)


def head_row(view: View) -> Head:
    """Return the picked head."""
    return pick_positions_head(view)
