"""Relative positions on the page: how they are written, which way to count them, what is absent."""

import altair as alt
import pandas as pd

from analysis.tables.positions import head_offset, query_key_correlation
from analysis.tables.positions.offset_agreement import COUNTINGS
from pages.ui.choices.pick import pick
from pages.ui.store.chosen import ask
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

ATTENTION_COLOUR, SCORE_COLOUR, PEAK_COLOUR = "#2f86c9", "#d07c00", "#ff5a36"
_SIGNED = "datum.value == 0 ? '0' : format(datum.value, '+d')"


def offset_told(offset: float) -> str:
    """An offset with its sign, a true minus among them."""
    return f"{int(offset):+d}".replace("-", "−") if offset else "0"


def offset_axis(**told: object) -> alt.Axis:
    """Whole offsets with their signs, and a line at each."""
    settings = {"tickMinStep": 1, "labelAngle": 0, "labelFlush": False} | told
    return alt.Axis(labelExpr=_SIGNED, **settings)  # pyright: ignore[reportArgumentType]


def pick_counting() -> str:
    """Whether offsets are compared by the paper's sums, by means per pair, or by centred sums."""
    return pick(
        "po_counting",
        say("positions_head.counting"),
        list(COUNTINGS),
        default="sum",
        format=lambda each: say(f"positions_head.counting_{each}"),
        help=say("positions_head.counting_help"),
    )


def heads_compared(counting: str) -> pd.DataFrame:
    """Every head with the offsets of one way of counting, under `score` and `attention`."""
    heads = ask(head_offset.heads)
    score, attention = (heads[name].astype("int64") for name in COUNTINGS[counting])
    agree, distance = score == attention, (score - attention).abs()
    return heads.assign(score=score, attention=attention, agree=agree, distance=distance)


def at_zero(heads: pd.DataFrame) -> int:
    """How many heads agree at the token itself, where nothing is shifted.

    Args:
        heads: some of `heads_compared`.
    """
    return int((heads["agree"] & (heads["attention"] == 0)).sum())


def told_at_zero(heads: pd.DataFrame) -> str:
    """The same as a sentence; nothing where no head does."""
    zero = at_zero(heads)
    same = int(heads["agree"].sum())
    return say("positions_head.claim.at_zero", zero=zero, same=same) if zero else ""


def heads_between(row: pd.Series) -> str:
    """Between which shares the agreement lies, or that there are too few heads to say."""
    low, high = row["agreement_low"], row["agreement_high"]
    if pd.isna(low):
        return say("positions_head.claim.no_interval")
    return say("positions_head.claim.between", low=percent(low), high=percent(high))


def is_causal() -> bool:
    """Whether no token of the model attends to what stands to its right."""
    offsets = ask(query_key_correlation.of_head, layer=1, head=1)["offset"]
    return not offsets.empty and offsets.max() <= 0
