"""Export buttons below a figure, a table or markup."""

import re
from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.export import files as export
from pages.export.latex import latex
from pages.export.shown import Shown, bibliography
from pages.kit.address import link_here
from pages.words.say import say

_FEW_LINES = 120  # pixels
_PICTURES = {
    "SVG": (export.svg, "image/svg+xml"),
    "PDF": (export.pdf, "application/pdf"),
    "PNG": (export.png, "image/png"),
}


def export_buttons(shown: Shown) -> None:
    """Draw export buttons; the files are made at a click, from the page's state then."""
    file = shown.asked.stores[0].label
    name = "_".join(
        re.sub(r"[^a-zA-Z0-9]+", "-", part.replace("α", "alpha")).strip("-").lower()
        for part in (*shown.called, file)
    )
    made_by = f"{shown.source} Mixscope {shown.version}."
    if shown.chart is not None:
        _pictures(shown, name, f"{made_by} {link_here()}")
    _data(shown, name, made_by)
    copied = {
        "figure.link": link_here(),
        "figure.cite": bibliography(shown.papers, shown.version),
        "figure.sql": ";\n\n".join(shown.asked.queries),
    }
    for title, text in copied.items():
        if text:
            st.caption(say(title))
            st.code(text, language="sql" if title == "figure.sql" else None, height=_FEW_LINES)


def _pictures(shown: Shown, name: str, made_by: str) -> None:
    labels = (shown.finding or shown.question, made_by, ";\n".join(shown.asked.queries))
    st.caption(say("figure.picture"))
    with st.container(horizontal=True):
        for label, (made, mime) in _PICTURES.items():
            data = partial(made, shown.chart, *labels)
            _button(shown.key, label, f"{name}.{label.lower()}", mime, data)


def _data(shown: Shown, name: str, made_by: str) -> None:
    notes = "\n".join((link_here(), *shown.asked.queries))
    caption = f"{shown.finding or shown.question} {made_by}"

    def table() -> str:
        return latex(shown.printed, caption=caption, label=name, notes=notes)

    makers: dict[str, tuple[Callable[[], str | bytes], str, str]] = {
        "CSV": (partial(export.csv, shown.frame), "csv", "text/csv"),
        "LaTeX": (table, "tex", "application/x-tex"),
    }
    st.caption(say("figure.data"))
    with st.container(horizontal=True):
        for label, (made, ending, mime) in makers.items():
            _button(shown.key, label, f"{name}.{ending}", mime, made)


def _button(
    key: str, label: str, file_name: str, mime: str, data: Callable[[], str | bytes]
) -> None:
    st.download_button(label, data, file_name, mime, key=f"{key}-{label}", on_click="ignore")
