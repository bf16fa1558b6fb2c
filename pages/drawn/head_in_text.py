"""Attention of a head in a text of the open file, where the file holds it whole."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.pairs import pair_occurrence
from analysis.statistics.positions import exemplar_attention
from pages.charts.chart_theme import in_theme
from pages.drawn.attention_lines import MOST, TextAttention, attention_lines
from pages.drawn.pieces import unique_names
from pages.services.absences import SPECIAL
from pages.services.inquiry import Inquiry
from pages.words.say import say


@dataclass(frozen=True)
class HeadInText:
    """A head, counted from 1, in a text of the open file; at most `most` tokens are drawn."""

    seq: int
    layer: int
    head: int
    weighing: str = WEIGHT
    most: int = MOST

    @property
    def choices(self) -> dict[str, str]:
        """Choices of the page on single sequences that show it."""
        return {"seq_quantity": f"head_{self.weighing}", "head": f"{self.layer}-{self.head}"}

    def attention(self, inquiry: Inquiry) -> TextAttention | None:
        """Weights between all tokens; None unless the file holds them.

        It holds those between the first tokens of a few texts; norms are never stored by pair.
        """
        if self.weighing != WEIGHT or not inquiry.store.holds(exemplar_attention.TABLE):
            return None
        tokens = inquiry.ask(pair_occurrence.sequence, seq=self.seq)
        of = {"seq": self.seq, "layer": self.layer, "head": self.head}
        pairs = inquiry.ask(exemplar_attention.of_head, **of)
        if len(pairs) != len(tokens) ** 2:
            return None
        shares = pairs["attention"].to_numpy().reshape(len(tokens), len(tokens))
        special = tokens["token_type"].isin(SPECIAL).tolist()
        names = unique_names(tokens["token"].tolist())
        return TextAttention(shares, names, special, self.weighing, most=self.most)


def lines_of(inquiry: Inquiry, heads: Sequence[HeadInText | None]) -> list[TextAttention] | None:
    """Attention of a head in each text; None if there is no text, or one without it."""
    if inquiry.store.shows_images:
        return None
    found = [head and head.attention(inquiry) for head in heads]
    known = [attention for attention in found if attention]
    return known if known and len(known) == len(found) else None


def draw_lines(attention: TextAttention, *, seq: int) -> None:
    """Draw the lines of a head in a text."""
    chart = attention_lines(attention, attention.lines)
    st.altair_chart(in_theme(chart), alt=say("attention_lines.alt", seq=seq))
    st.caption(attention.left_out)
