"""Figures and tables with question, caption, source and export."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from analysis.statistics.table import LEAST_UNITS
from pages.ui.beside.beside import Beside, beside
from pages.ui.beside.unseen import Content
from pages.ui.charts.headline import emphasised, headlined, joined, sentences, unmarked
from pages.ui.charts.look import in_theme
from pages.ui.collection.button import collect_button
from pages.ui.export.buttons import export_buttons
from pages.ui.export.shown import Shown, source
from pages.ui.lazily import folded
from pages.ui.stage import share_of_page, stage
from pages.ui.words.lines import width_of
from pages.ui.words.place import say_here
from pages.ui.words.say import say

_TWO_LINES, _TWO_WIDE_LINES = 165, 280  # letters: beside the buttons; as wide as the page, above


def figure(
    chart: Any,
    *,
    key: str,
    question: str,
    caption: str,
    frame: pd.DataFrame,
    name: str = "",
    alt: str | None = None,
    clickable: bool = False,
    width: Literal["stretch", "content"] = "stretch",
) -> Any:
    """Draw a chart under the question it answers; return its selections if it takes any.

    Args:
        key: of the chart; a selection is read as `event["selection"][name]`.
        caption: what to see in it; the source is appended.
        frame: the data that are offered for export.
        name: of the figure in its section, if it can be compared with others of its kind.
        alt: text for screen readers; the question if None.
        width: that of the page, or the chart's own.
    """
    content = Content(chart, frame, stage().begin(), caption)
    st.subheader(question, anchor=False)
    side = beside(name)
    if side and side.is_chosen:
        content, key, clickable = side.added_to(content), f"{key}-beside", False
    title = headlined(content.chart, content.finding, room=share_of_page())
    event: Any = st.altair_chart(
        in_theme(content.chart, **title),
        width=width,
        key=key,
        on_select="rerun" if clickable else "ignore",
        alt=f"{alt or question} {unmarked(content.finding)}".strip(),
    )
    _foot(Shown(key, question, **vars(content)), side=side)
    return event if clickable else {"selection": {}}


def table(
    frame: pd.DataFrame,
    *,
    key: str,
    question: str,
    caption: str,
    columns: Mapping[str, Any],
    **options: Any,
) -> Any:
    """Draw a table under the question it answers.

    Args:
        columns: columns to show, in order: a human name, or a `st.column_config` column.
        options: further ones of `st.dataframe`, such as `on_select` and `selection_mode`.
    """
    shown = frame[list(columns)]
    finding = stage().begin()
    _headline(question, finding)
    event = st.dataframe(
        shown,
        key=key,
        hide_index=True,
        width="stretch",
        column_config=dict(columns),
        alt=f"{question} {unmarked(finding)}".strip(),
        **options,
    )
    _foot(Shown(key, question, caption, finding, shown, columns=columns), full=frame)
    return event


def markup(
    body: str | Callable[[], str],
    *,
    key: str,
    question: str,
    caption: str,
    frame: pd.DataFrame,
    chart: Any = None,
) -> None:
    """Draw markup under the question it answers; arguments as of `View.markup`."""
    finding = stage().begin()
    _headline(question, finding)
    if isinstance(body, str):
        st.html(body)
    else:
        body = body()
    _foot(Shown(key, question, caption, finding, frame, chart, body))


def _headline(question: str, finding: str) -> None:
    """Draw the question and the finding above content without a title of its own."""
    st.subheader(question, anchor=False)
    if finding:
        st.markdown(emphasised(_brief(finding)))


def _foot(shown: Shown, full: pd.DataFrame | None = None, side: Beside | None = None) -> None:
    """Draw a short caption, with explanation, export and collection behind buttons.

    The explanation includes the reason for missing intervals, if any are missing, and the source.
    """
    frame = shown.frame if full is None else full
    missing = any(_lacks(frame, str(name)) for name in frame)
    absent = say_here("interval_absent", shared="figure", least=LEAST_UNITS) if missing else ""
    is_wide = share_of_page() == 1
    if not is_wide:
        st.caption(_brief(shown.caption, round(_TWO_WIDE_LINES * share_of_page())))
    row = f"foot_{shown.key}" if is_wide else None
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key=row):
        if is_wide:
            st.caption(_brief(shown.caption), width="stretch")
        with st.popover(say("figure.reading"), type="tertiary"):
            for text in filter(None, (shown.finding, *stage().notes())):
                st.markdown(text)
            for text in filter(None, (shown.caption, absent, source())):
                st.caption(text)
        if side:
            side.pick()
        with st.container(width="content"):  # a fragment alone would be as wide as it can
            folded(
                "popover",
                say("figure.export"),
                f"export_{shown.key}",
                partial(export_buttons, shown),
                type="tertiary",
                help=say("figure.export_help"),
            )
        collect_button(shown)


def _brief(caption: str, letters: int = _TWO_LINES) -> str:
    """First sentences of a text, as many as fit on two lines."""
    texts = sentences(caption)
    fitting = (joined(texts[:n]) for n in range(len(texts), 1, -1))
    return next((text for text in fitting if width_of(text) <= letters), joined(texts[:1]))


def _lacks(frame: pd.DataFrame, end: str) -> bool:
    """Return True if a column of lower ends lacks the interval of some number."""
    if not end.endswith("low"):
        return False
    number = end.removesuffix("_low")
    is_number = frame[number].notna() if number in frame and number != end else True
    return bool((frame[end].isna() & is_number).any())
