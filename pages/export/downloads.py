"""Downloads of a report, made on request."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.export.item import Item
from pages.export.paper import paper
from pages.export.web import web_page
from pages.words.say import say


def downloads(title: str, items: Callable[[], Sequence[Item]]) -> None:
    """Draw downloads of a report as a web page and in LaTeX.

    Args:
        items: returns them when a download is asked for.
    """
    name = re.sub(r"\W+", "-", title).strip("-") or "mixscope-report"
    makers: dict[str, tuple[Callable[[], Any], str, str]] = {
        "web": (lambda: web_page(title, items()), "html", "text/html"),
        "paper": (lambda: paper(title, items()), "zip", "application/zip"),
    }
    for word, (make, ending, mime) in makers.items():
        st.download_button(
            say(f"report.{word}"),
            make,
            f"{name}.{ending}",
            mime,
            help=say(f"report.{word}_help"),
            key=f"report-{word}",
            on_click="ignore",
        )
