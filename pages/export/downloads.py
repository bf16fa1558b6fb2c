"""Downloads of a collection, made on request."""

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.export.collection import Collection
from pages.export.paper import paper
from pages.export.web import web_page
from pages.words.say import say

KINDS = ("web", "paper")


def downloads(shown: Collection, *kinds: str) -> None:
    """Draw downloads of the report and the paper, or of one of them.

    Args:
        kinds: of `KINDS`; by default all.
    """
    name = re.sub(r"\W+", "-", shown.title).strip("-") or "mixscope-report"
    files: dict[str, tuple[Callable[[], Any], str, str]] = {
        "web": (lambda: web_page(shown), "html", "text/html"),
        "paper": (lambda: paper(shown), "zip", "application/zip"),
    }
    for word in kinds or KINDS:
        make, ending, mime = files[word]
        st.download_button(
            say(f"report.{word}"),
            make,
            f"{name}.{ending}",
            mime,
            help=say(f"report.{word}_help"),
            key=f"report-{word}",
            on_click="ignore",
        )
