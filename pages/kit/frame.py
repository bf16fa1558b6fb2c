"""Frame of recorded items: the only place where charts and tables of sections are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from analysis.statistics.base.columns import LEAST_UNITS
from pages.charts.chart_theme import in_theme
from pages.charts.headline import emphasised, joined, sentences, unmarked
from pages.export.buttons import export_buttons
from pages.export.collection import collect_button
from pages.export.shown import Shown
from pages.kit.beside import Comparison
from pages.kit.folds import folded
from pages.kit.items import (
    Columns,
    Control,
    Drawn,
    Figure,
    Follow,
    Group,
    Item,
    Markup,
    Table,
    Text,
)
from pages.kit.picker import widget
from pages.words.lines import width_of
from pages.words.say import say
from pages.words.scope import say_here

_TWO_LINES, _TWO_WIDE_LINES = 165, 280  # letters: beside the buttons; as wide as the page, above


class Frame:
    """Drawing of a section: its items in order, each with everything that surrounds it."""

    def __init__(self, compare: Callable[[Figure], Comparison | None]) -> None:
        """Remember `compare`, which returns what a figure can be compared with."""
        self._compare = compare
        self._share = 1.0

    def draw(self, items: Sequence[Item]) -> None:
        """Draw items in order."""
        for item in items:
            self._draw(item)

    def _draw(self, item: Item) -> None:
        match item:
            case Control():
                widget(item)
            case Text(kind, body, options):
                getattr(st, kind)(body, **options)
            case Drawn(draw):
                draw()
            case Group(kind, given, options, items):
                with getattr(st, kind)(*given, **options):
                    self.draw(items)
            case Columns(groups, shares):
                self._columns(groups, shares)
            case Figure():
                draw_figure(item, share=self._share, comparison=self._compare(item))
            case Table():
                draw_table(item, share=self._share)
            case Markup():
                draw_markup(item, share=self._share)

    def _columns(self, groups: Sequence[Group], shares: Sequence[float]) -> None:
        before = self._share
        for place, group, share in zip(st.columns(shares), groups, shares, strict=True):
            self._share = share / sum(shares)
            with place:
                self.draw(group.items)
        self._share = before


def draw_figure(item: Figure, *, share: float = 1.0, comparison: Comparison | None = None) -> None:
    """Draw a chart under the question that it answers.

    Args:
        share: fraction of the page's width that is available.
        comparison: those that it offers.
    """
    content, follow = item.shown, item.follow
    if comparison and comparison.is_chosen:
        content, follow = comparison.added_to(item, share), None
        content = replace(content, key=f"{content.key}-beside")
    _headline(content, share)
    st.altair_chart(
        in_theme(content.chart),
        width=item.width,
        key=content.key,
        on_select="ignore" if follow is None else partial(_followed, content.key, follow),
        alt=f"{content.question} {unmarked(content.finding)}".strip(),
    )
    _foot(content, item.notes, share=share, comparison=comparison)


def draw_table(item: Table, *, share: float = 1.0) -> None:
    """Draw a table under the question that it answers."""
    content, options = item.shown, dict(item.options)
    if item.follow is not None:
        options["on_select"] = partial(_followed, content.key, item.follow, item.full)
    _headline(content)
    st.dataframe(
        content.frame,
        key=content.key,
        hide_index=True,
        width="stretch",
        column_config=dict(content.columns),
        alt=f"{content.question} {unmarked(content.finding)}".strip(),
        **options,
    )
    _foot(content, item.notes, full=item.full, share=share)


def draw_markup(item: Markup, *, share: float = 1.0) -> None:
    """Draw markup under the question that it answers."""
    _headline(item.shown)
    body = item.body
    if isinstance(body, str):
        st.html(body)
    else:
        body = body()
    _foot(replace(item.shown, body=body), item.notes, share=share)


def _followed(key: str, follow: Follow, rows: pd.DataFrame | None = None) -> None:
    """Follow a click on a mark, or on a row of a table; clearing a selection is none."""
    marks = [mark for part in st.session_state[key]["selection"].values() for mark in part]
    if rows is not None:
        marks = rows.iloc[[row for row in marks if row < len(rows)]].to_dict("records")
    for mark in marks[:1]:
        follow(mark)


def _headline(content: Shown, share: float = 1.0) -> None:
    """Draw the question, and below it the finding, as much of it as fits on two lines."""
    st.subheader(content.question, anchor=False)
    if content.finding:
        st.markdown(emphasised(_brief(content.finding, round(_TWO_LINES * share))))


def _foot(
    shown: Shown,
    notes: Sequence[str],
    *,
    share: float,
    full: pd.DataFrame | None = None,
    comparison: Comparison | None = None,
) -> None:
    """Draw a short caption, with explanation, export and collection behind buttons.

    The explanation includes the reason for missing intervals, if any are missing, and the source.
    """
    frame = shown.frame if full is None else full
    missing = any(_lacks(frame, str(name)) for name in frame)
    absent = say_here("interval_absent", shared="figure", least=LEAST_UNITS) if missing else ""
    is_wide = share == 1
    if not is_wide:
        st.caption(_brief(shown.caption, round(_TWO_WIDE_LINES * share)))
    row = f"foot_{shown.key}" if is_wide else None
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key=row):
        if is_wide:
            st.caption(_brief(shown.caption), width="stretch")
        with st.popover(say("figure.reading"), type="tertiary"):
            for text in filter(None, (shown.finding, *notes)):
                st.markdown(text)
            for text in filter(None, (shown.caption, absent, shown.origin)):
                st.caption(text)
        if comparison:
            comparison.pick()
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
