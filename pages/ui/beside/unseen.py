"""A figure as it would be if one choice were another: its section is drawn again, unseen."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.choices.otherwise import NothingThere, made_otherwise
from pages.ui.stage import Outside, on_stage, stage


@dataclass(frozen=True)
class Drawn:
    """A chart of a figure, and the data that it offers for export."""

    chart: Any
    frame: pd.DataFrame


class _Reached(BaseException):
    """The figure that is looked for is there: there is no need to draw on."""


class _Unseen(Outside):
    """A section that is drawn for one of its figures alone."""

    shares_rows = is_unseen = True
    drawn: Drawn | None = None

    def __init__(self, wanted: str, seen: Outside) -> None:
        self._wanted, self._seen = wanted, seen

    def fold(self, title: str) -> Any:
        return nullcontext()

    def announce(self, finding: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def reach(self, name: str, chart: Any, frame: Any) -> None:
        if name == self._wanted:
            self.drawn = Drawn(chart, frame)
            raise _Reached

    def record(self, queries: list[str], store: Any) -> None:
        self._seen.record(queries, store)


def as_if(name: str, choices: dict[str, str]) -> Drawn | None:
    """A figure of the section that is drawn, as it would be with some choices made otherwise.

    Args:
        name: of the figure, with the prefix of its page.
        choices: names of options, by the keys of the choices.

    Returns:
        None if it would not be drawn then.
    """
    seen, place = stage(), st.empty()
    unseen = _Unseen(name, seen)
    try:
        with place.container(), on_stage(unseen), made_otherwise(choices):
            if seen.redraw:
                seen.redraw()
    except (_Reached, NothingThere):
        pass
    finally:
        place.empty()
    return unseen.drawn
