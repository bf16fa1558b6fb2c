"""Texts under headings, each with a link to the page on single sequences."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.charts.headline import unmarked
from pages.drawn import shading
from pages.drawn.head_in_text import HeadInText, draw_lines, lines_of
from pages.kit.links import link_to_sequence
from pages.services.inquiry import Inquiry
from pages.words.say import say

_BESIDE = 3
"""Texts with lines in a row."""


@dataclass(frozen=True)
class Passage:
    """A text of the file.

    Attributes:
        heading: in markdown.
        body: markup, with all text from the file escaped.
        seq: number of its sequence.
        token: position of the token that it is about, if it is about one.
        head: head whose attention in the text is drawn as lines, in place of the body, if it is
            known between all tokens.
    """

    heading: str
    body: str
    seq: int
    token: int | None = None
    head: HeadInText | None = None


def draw_passages(inquiry: Inquiry, key: str, passages: Sequence[Passage]) -> str:
    """Draw the texts; return their markup, without the links.

    Lines stand beside those of other texts, all else stands below each other.

    Args:
        key: to their colours, in markup.
    """
    lines = lines_of(inquiry, [passage.head for passage in passages])
    if lines is None:
        st.html(shading.STYLE + key)
    else:
        st.caption(say("attention_lines.caption"))
    beside = 1 if lines is None else min(_BESIDE, len(passages))
    for first in range(0, len(passages), beside):
        row = passages[first : first + beside]
        for at, (place, passage) in enumerate(zip(st.columns(beside), row, strict=False), first):
            with place:
                st.markdown(passage.heading)
                if lines is None:
                    st.html(passage.body)
                else:
                    draw_lines(lines[at], seq=passage.seq)
                of = passage.head.choices if passage.head else {}
                link_to_sequence(passage.seq, token=passage.token, **of)
    titled = (shading.titled(unmarked(text.heading), "", text.body) for text in passages)
    return "".join([key, *titled])
