"""Drawing of an item of the collection."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages.charts.chart_theme import in_theme
from pages.charts.views import filled
from pages.drawn import shading
from pages.export.drawing import NotDrawn, not_drawn
from pages.export.files import svg
from pages.export.item import Item
from pages.export.markup import clean
from pages.kit.presentation import is_presenting


def show(item: Item, key: str, *, small: bool = False) -> None:
    """Draw the chart, the table or the text; if `small`, the chart as printed."""
    alternative = f"{item.question} {item.finding}".strip()
    if item.chart and small:
        if picture := _printed(item.chart):
            st.image(picture, width="stretch")
        else:
            st.warning(not_drawn())
    elif item.chart:
        shown = filled(item.chart) if is_presenting() else item.chart
        width = "content" if shown.get("autosize") == {"type": "pad"} else "stretch"
        st.altair_chart(in_theme(shown), width=width, key=key, alt=alternative)
    elif item.body:
        st.html(shading.STYLE + clean(item.body))
    else:
        st.dataframe(_numbers(item), key=key, hide_index=True, placeholder="—", alt=alternative)


@st.cache_data(max_entries=256, ttl=600, show_spinner=False)
def _printed(chart: Mapping[str, Any]) -> str | None:
    """Return the chart as printed; None if it cannot be drawn, which is cached for a while."""
    try:
        return svg(chart)
    except NotDrawn:
        return None


def _numbers(item: Item) -> pd.DataFrame:
    """Rows of a table, with distinct names for columns of the same title."""
    frame = item.frame
    again = frame.columns.to_series().groupby(frame.columns).cumcount()
    frame.columns = [f"{name} ({n + 1})" if n else name for name, n in again.items()]
    return frame
