"""An item of the collection, drawn as it was."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.charts import shading
from pages.ui.charts.headline import unmarked
from pages.ui.charts.look import theme
from pages.ui.collection.item import Item, clean
from pages.ui.words.say import plain


def show(item: Item, key: str, *, height: int | None = None) -> None:
    """The chart, the table or the text.

    Args:
        height: of a chart of one view, in pixels; its own if None.
    """
    alternative = f"{item.question} {unmarked(item.finding)}".strip()
    if item.chart:
        st.vega_lite_chart(spec=_spec(item.chart, height), key=key, alt=alternative)
    elif item.body:
        st.html(shading.STYLE + clean(item.body))
    else:
        st.dataframe(_numbers(item), key=key, hide_index=True, placeholder="—", alt=alternative)


def _spec(chart: Mapping[str, Any], height: int | None) -> dict[str, Any]:
    """The chart in the reader's theme."""
    fits = height is not None and ("mark" in chart or "layer" in chart)
    of_height = {"height": height} if fits else {}
    return {**chart, **of_height, "config": {**chart.get("config", {}), **theme()}}


def _numbers(item: Item) -> pd.DataFrame:
    """The rows of a table; two columns of one title are told apart."""
    frame = item.frame
    again = frame.columns.to_series().groupby(frame.columns).cumcount()
    frame.columns = [f"{name} ({n + 1})" if n else name for name, n in again.items()]
    return frame


def origin(item: Item) -> str:
    """Where an item is from, in markdown."""
    return plain(item.source)
