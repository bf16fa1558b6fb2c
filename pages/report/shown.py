"""Drawing of an item of the collection."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.charts import shading
from pages.ui.charts.chart_theme import theme
from pages.ui.collection.item import Item
from pages.ui.collection.markup import clean
from pages.ui.export.drawing import NotDrawn, not_drawn
from pages.ui.export.files import svg

_HEIGHT = 400  # of a chart on a slide, in pixels


def show(item: Item, key: str, *, small: bool = False) -> None:
    """Draw the chart, the table or the text; if `small`, the chart as printed."""
    alternative = f"{item.question} {item.finding}".strip()
    if item.chart and small:
        if picture := _printed(item.chart):
            st.image(picture, width="stretch")
        else:
            st.warning(not_drawn())
    elif item.chart:
        st.vega_lite_chart(spec=_spec(item.chart), key=key, alt=alternative)
    elif item.body:
        st.html(shading.STYLE + clean(item.body))
    else:
        st.dataframe(_numbers(item), key=key, hide_index=True, placeholder="—", alt=alternative)


def _spec(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Specification in the reader's theme, as high as a slide if it has one view."""
    height = {"height": _HEIGHT} if "mark" in chart or "layer" in chart else {}
    return {**chart, **height, "config": {**chart.get("config", {}), **theme()}}


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
