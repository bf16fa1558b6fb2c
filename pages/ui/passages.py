"""Texts under headings, each with a link to the page on single sequences."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.charts import shading
from pages.ui.charts.headline import unmarked
from pages.ui.choices.links import link_to_sequence


@dataclass(frozen=True)
class Passage:
    """A text of the file.

    Attributes:
        heading: in markdown.
        body: markup, with all text from the file escaped.
        seq: number of its sequence.
        token: position of the token that it is about, if it is about one.
    """

    heading: str
    body: str
    seq: int
    token: int | None = None


def draw_passages(key: str, passages: Sequence[Passage]) -> str:
    """Draw the texts one below the other; return their markup, without the links.

    Args:
        key: to their colours, in markup.
    """
    st.html(shading.STYLE + key)
    markup = [key]
    for passage in passages:
        st.markdown(passage.heading)
        st.html(passage.body)
        link_to_sequence(passage.seq, token=passage.token)
        markup.append(shading.titled(unmarked(passage.heading), "", passage.body))
    return "".join(markup)
