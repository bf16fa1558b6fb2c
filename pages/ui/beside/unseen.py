"""Off-screen run of a section with one choice changed, to obtain one of its figures."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.choices.otherwise import DrawingEnds, made_otherwise
from pages.ui.stage import Outside, on_stage, stage


@dataclass(frozen=True)
class Content:
    """Chart, data for export and texts of a figure; the texts are empty off-screen."""

    chart: Any
    frame: pd.DataFrame
    finding: str = ""
    caption: str = ""


class _Unseen(Outside):
    """Stage of an off-screen run of a section that ends at one figure."""

    shares_rows = is_unseen = True
    drawn: Content | None = None

    def __init__(self, wanted: str, seen: Outside) -> None:
        self._wanted, self._seen = wanted, seen

    def reach(self, name: str, chart: Any, frame: Any) -> None:
        if name == self._wanted:
            self.drawn = Content(chart, frame)
            raise DrawingEnds

    def record(self, queries: list[str], store: Any) -> None:
        self._seen.record(queries, store)


def as_if(name: str, choices: dict[str, str]) -> Content | None:
    """Return a figure of the current section as drawn with some choices changed.

    Args:
        name: of the figure, with the prefix of its page.
        choices: names of options, by the keys of the choices.

    Returns:
        None if the section does not draw it with these choices.
    """
    seen, place = stage(), st.empty()
    unseen = _Unseen(name, seen)
    try:
        with place.container(), on_stage(unseen), made_otherwise(choices), suppress(DrawingEnds):
            if seen.redraw:
                seen.redraw()
    finally:
        place.empty()
    return unseen.drawn
