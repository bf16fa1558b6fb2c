"""Attention of a head in a text of the open file: stored, or computed by the model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from analysis.statistics.norms.weighing import WEIGHT
from analysis.statistics.pairs import pair_occurrence
from analysis.statistics.positions import exemplar_attention
from pages.ui.charts.look import in_theme
from pages.ui.charts.pieces import unique_names
from pages.ui.charts.texts.attention_lines import MOST, TextAttention, attention_lines
from pages.ui.live import door, readings
from pages.ui.store.absences import SPECIAL
from pages.ui.store.chosen import ask, open_store, shows_images
from pages.ui.words.say import say


@dataclass(frozen=True)
class HeadInText:
    """A head, counted from 1, in a text of the open file.

    `token` is one that is drawn in any case, `most` the number of tokens drawn of a long text.
    """

    seq: int
    layer: int
    head: int
    weighing: str = WEIGHT
    token: int | None = None
    most: int = MOST

    @property
    def choices(self) -> dict[str, str]:
        """Choices of the page on single sequences that show it."""
        return {"seq_quantity": f"head_{self.weighing}", "head": f"{self.layer}-{self.head}"}

    def attention(self, *, runs: bool) -> TextAttention | None:
        """Attention between all tokens; of the first ones if the file alone has it; or None.

        Args:
            runs: whether the model can be run.
        """
        tokens = ask(pair_occurrence.sequence, seq=self.seq)
        shares = self._stored()
        if runs and (shares is None or len(shares) < len(tokens)):
            reading = readings.of_file(tokens, None)
            of_heads = readings.head_shares(reading, layer=self.layer, weighing=self.weighing)
            shares = of_heads[self.head - 1]
        if shares is None:
            return None
        special = tokens["token_type"].isin(SPECIAL).tolist()
        names = unique_names(tokens["token"].tolist())
        return TextAttention(shares, names, special, self.weighing, self.token, self.most)

    def _stored(self) -> np.ndarray | None:
        """Weights of the first tokens, which the file stores of a few texts."""
        if self.weighing != WEIGHT or not open_store().holds(exemplar_attention.TABLE):
            return None
        of = {"seq": self.seq, "layer": self.layer, "head": self.head}
        pairs = ask(exemplar_attention.of_head, **of)
        n = len(pairs) and int(pairs["query_pos"].max()) + 1
        return pairs["attention"].to_numpy().reshape(n, n) if n else None


def lines_of(texts: Sequence[Sequence[HeadInText]]) -> list[list[TextAttention]] | None:
    """Attention of all heads in all texts; None, if some are unknown, after saying why."""
    if shows_images() or not any(texts):
        return None
    reason = door.unreachable()
    found = [[text.attention(runs=not reason) for text in heads] for heads in texts]
    known = [[attention for attention in heads if attention] for heads in found]
    if known == found:
        return known
    st.caption(say("attention_lines.absent", reason=reason))
    return None


def draw_lines(found: Sequence[TextAttention], *, seq: int) -> None:
    """Draw the lines of heads in one text side by side."""
    for place, attention in zip(st.columns(len(found)), found, strict=True):
        chart = attention_lines(attention, attention.lines)
        with place:
            st.altair_chart(in_theme(chart), alt=say("attention_lines.alt", seq=seq))
            st.caption(attention.left_out)
