"""The offsets of all heads: how they are counted, whether they agree, and how axes write them;
and the head that is looked at: one picker that all sections on heads share."""

import altair as alt
import pandas as pd

from analysis.tables.positions import head_offset, offset_agreement
from analysis.tables.positions.offset_agreement import COUNTINGS, KERNEL
from pages.ui.head.bar import clicked_head
from pages.ui.head.choice import Head, head_name, head_with_most
from pages.ui.store.chosen import ask, knows_offsets
from pages.ui.view import View
from pages.ui.words.interval import side_of
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

DEPENDS = 0.1
"""Share of a head's variance that the offset explains, from which it is counted as dependent."""
_SIGNED = "datum.value == 0 ? '0' : format(datum.value, '+d')"


def offset_axis(**options: object) -> alt.Axis:
    """Whole offsets with their signs."""
    settings = {"tickMinStep": 1, "labelAngle": 0, "labelFlush": False} | options
    return alt.Axis(labelExpr=_SIGNED, **settings)  # pyright: ignore[reportArgumentType]


def heads_compared(counting: str) -> pd.DataFrame:
    """Every head with the offsets of one way of counting, under `score` and `attention`."""
    heads = ask(head_offset.heads).dropna(subset=list(COUNTINGS[counting]))
    score, attention = (heads[name].astype("int64") for name in COUNTINGS[counting])
    agree, distance = score == attention, (score - attention).abs()
    return heads.assign(score=score, attention=attention, agree=agree, distance=distance)


def counting_picker(view: View) -> str:
    """The way of counting that is chosen of those that the model has: kernels are of scores that
    know offsets alone, and come first there."""
    others = [counting for counting in COUNTINGS if counting != KERNEL]
    return view.pick("counting", [KERNEL, *others] if knows_offsets() else others)


def at_zero(heads: pd.DataFrame) -> int:
    """How many of `heads_compared` agree at the token itself, where nothing is shifted."""
    return int((heads["agree"] & (heads["attention"] == 0)).sum())


def agreement_at_zero(heads: pd.DataFrame) -> str:
    """The same as a sentence; nothing where no head does."""
    zero, same = at_zero(heads), int(heads["agree"].sum())
    return say("positions.claim.at_zero", zero=zero, same=same) if zero else ""


def agreement_words(row: pd.Series) -> dict[str, str]:
    """Which share of heads agrees, between which shares that lies, or that there are too few heads
    to say, and which share would by chance."""
    low, high = map(percent, row[["agreement_low", "agreement_high"]])
    kind = "no_interval" if pd.isna(row["agreement_low"]) else "between"
    between = say(f"positions.claim.{kind}", low=low, high=high)
    return {"between": between, **row[["agreement", "chance"]].map(percent)}


def beside_chance(row: pd.Series) -> str:
    """Say whether the interval of the agreement is clear of chance."""
    side = side_of(*row[["agreement_low", "agreement_high", "chance"]])
    return say(f"positions.claim.verdict_{side}")


def agreement_of(counting: str, least: float) -> pd.Series | None:
    """Agreement of all heads whose attention depends on position at least so much, if any do."""
    frame = ask(offset_agreement.agreement, counting=counting, min_dependence=least)
    frame = frame[frame["layer"].isna()]
    return None if frame.empty else frame.iloc[0]


def agreement_of_dependent(counting: str) -> str:
    """The agreement of the heads whose attention depends on position, as a sentence."""
    some = agreement_of(counting, DEPENDS)
    if some is None:
        return ""
    heads = heads_compared(counting)
    zero = at_zero(heads[heads["dependence"] >= DEPENDS])
    counts = {"least": DEPENDS, "n": count(some["n_heads"]), "zero": zero}
    return say("positions.claim.finding_some", **counts, **agreement_words(some))


def pick_positions_head(view: View, *charts: str) -> Head:
    """The head that was picked or clicked in a chart; unless chosen, the one whose attention
    depends most on positions, where there is most to see."""
    default = head_with_most(ask(head_offset.heads), "dependence")
    return clicked_head(view, *charts, default=default)


def head_row(view: View, *charts: str) -> Head:
    """The picker, and the way to the section on the head."""
    head = pick_positions_head(view, *charts)
    with view.toolbar():
        view.to_section("one_head", head=head_name(*head))
    return head
