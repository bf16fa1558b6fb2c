"""A figure as it would be if one choice were another: its section is drawn again, unseen."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.choices.otherwise import NothingThere, made_otherwise
from pages.ui.stage import Outside, on_stage, stage


class _Reached(BaseException):
    """The figure that is looked for is there: there is no need to draw on."""

    def __init__(self, chart: Any, frame: pd.DataFrame) -> None:
        super().__init__()
        self.figure = chart, frame


class _Unseen(Outside):
    """A section that is drawn for one of its figures alone."""

    shares_rows = is_unseen = True

    def __init__(self, wanted: str, seen: Outside) -> None:
        self._wanted, self._seen = wanted, seen

    def reach(self, name: str, chart: Any, frame: Any) -> None:
        if name == self._wanted:
            raise _Reached(chart, frame)

    def hear(self, queries: list[str], store: Any) -> None:
        self._seen.hear(queries, store)


def as_if(name: str, choices: dict[str, str]) -> tuple[Any, pd.DataFrame] | None:
    """A figure of the section that is drawn, as it would be with some choices made otherwise.

    Args:
        name: of the figure, with the prefix of its page.
        choices: names of options, by the keys of the choices.

    Returns:
        Its chart and the data that it offers for export; None if it would not be drawn then.
    """
    seen, place = stage(), st.empty()
    try:
        with place.container(), on_stage(_Unseen(name, seen)), made_otherwise(choices):
            if seen.redraw:
                seen.redraw()
    except _Reached as reached:
        return reached.figure
    except NothingThere:
        return None
    finally:
        place.empty()
    return None
