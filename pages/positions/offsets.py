"""Score and attention offsets of heads: ways of counting, the heads compared, and axes."""

import math

import pandas as pd

from analysis.published.positions import OFFSETS, SHIFT
from analysis.statistics.positions.attention import COUNTINGS
from pages.kit.head_choice import Head, head_with_most
from pages.kit.published_table import Row, statistic_of
from pages.kit.section import Choices, rows_of
from pages.positions.spectra.peaks import UNIT
from pages.services.inquiry import Inquiry
from pages.words.say import say

_HEADS = "from head_offset order by layer, head"
_PHASES = """
    select phase, frequency, amplitude from query_key_phase
    where layer = $layer and head = $head and side = 'query' order by phase, frequency"""


def most_positional(inquiry: Inquiry, _: Choices) -> Head:
    """Head whose attention depends most on relative position."""
    return head_with_most(rows_of(_HEADS, inquiry, {}), "dependence")


def heads_compared(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Heads that depend on position as much as chosen, with the offsets that are compared.

    The most position-dependent head is first; `score` and `attention` are its offsets by the way
    of counting.
    """
    names = list(COUNTINGS[choices["counting"]])
    heads = rows_of(_HEADS, inquiry, {}).dropna(subset=names)
    heads = heads[heads["dependence"] >= float(choices["least"])]
    score, attention = (heads[name].astype("int64") for name in names)
    agree, distance = score == attention, (score - attention).abs()
    heads = heads.assign(score=score, attention=attention, agree=agree, distance=distance)
    return heads.sort_values("dependence", ascending=False, kind="stable")


def printed_offsets(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Printed numbers of models that add positions, as those of the paper do, in column `row`."""
    if not inquiry.store.adds_positions:
        return pd.DataFrame()
    phases = rows_of(_PHASES, inquiry, {"layer": SHIFT.layer, "head": SHIFT.head})
    return pd.DataFrame({"row": offset_rows(rows_of(_HEADS, inquiry, {}), phases)})


def offset_rows(heads: pd.DataFrame, phases: pd.DataFrame) -> list[Row]:
    """Printed offsets of highest score, and the shift of one head's waves, with the file's own.

    The shift is taken at the frequency of the highest amplitude. Rows without a value have None.

    Args:
        heads: layer, head, score_offset.
        phases: phase, frequency, amplitude of the head whose shift is printed.
    """
    offsets = heads.set_index(["layer", "head"])["score_offset"]
    highest = phases[phases["frequency"] > 0].nlargest(1, "amplitude")
    shift = UNIT * highest["phase"] / (math.tau * highest["frequency"])  # tokens
    found = [("offset", number, offsets.get((number.layer, number.head))) for number in OFFSETS]
    return [
        Row(
            statistic_of(
                say("published.head", layer=number.layer, head=number.head),
                say(f"positions.published.{quantity}"),
            ),
            number,
            ours,
        )
        for quantity, number, ours in [*found, ("shift", SHIFT, next(iter(shift), None))]
    ]
