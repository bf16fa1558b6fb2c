"""A figure or a table with its question, what to see in it, where it comes from, and its export."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from analysis.sources import MIXSCOPE, PAPERS
from analysis.tables.table import LEAST_UNITS
from pages.ui.charts.headline import headlined, sentences, unmarked
from pages.ui.charts.look import in_theme
from pages.ui.choices.address import link_here
from pages.ui.export import files as export
from pages.ui.stage import stage
from pages.ui.store.chosen import open_store
from pages.ui.store.open_file import Store
from pages.ui.words.columns import title_or_name
from pages.ui.words.lines import width_of
from pages.ui.words.say import plain, say

_TWO_LINES = 200  # letters
_FEW_LINES = 120  # pixels
_REVISION = 8  # letters of a commit or a hash that tell it from others
_PICTURES = {
    "SVG": (export.svg, "image/svg+xml"),
    "PDF": (export.pdf, "application/pdf"),
    "PNG": (export.png, "image/png"),
}
_PAIR = "mean_delta"  # its intervals are of another kind, and their pages tell when they lack


def figure(
    chart: Any,
    *,
    key: str,
    question: str,
    caption: str,
    frame: pd.DataFrame,
    alt: str | None = None,
    clickable: bool = False,
    width: Literal["stretch", "content"] = "stretch",
) -> Any:
    """Draw a chart under the question it answers; returns its selections where it takes any.

    Args:
        key: of the chart; a selection is read as `event["selection"][name]`.
        caption: what to see in it; the file it comes from is told after it.
        frame: the data that are offered for export.
        alt: for readers who hear the page; the question if None.
        width: that of the page, or the chart's own.
    """
    finding = stage().begin()
    _question(question)
    event = st.altair_chart(
        in_theme(headlined(chart, finding)),
        width=width,
        key=key,
        on_select="rerun" if clickable else "ignore",
        alt=f"{alt or question} {unmarked(finding)}".strip(),
    )
    _foot(caption, frame, finding, lambda: _exports(key, question, frame, chart, finding))
    return event


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
        columns: which columns to show, in order: a human name, or a `st.column_config` column.
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
    _foot(caption, frame, finding, lambda: _exports(key, question, shown, None))
    return event


def markup(
    body: str, *, key: str, question: str, caption: str, frame: pd.DataFrame, chart: Any = None
) -> None:
    """Draw markup of our own under the question it answers.

    Args:
        body: with everything escaped that a stranger wrote.
        frame: the data that are offered for export.
        chart: the same as a picture for export, if it can be drawn.
    """
    finding = stage().begin()
    _headline(question, finding)
    st.html(body)
    _foot(caption, frame, finding, lambda: _exports(key, question, frame, chart, finding))


def _question(question: str) -> None:
    st.subheader(question, anchor=False)


def _headline(question: str, finding: str) -> None:
    """The question, and under it what was found, above what has no title of its own."""
    _question(question)
    if finding:
        st.markdown(_brief(finding))


def _foot(caption: str, frame: pd.DataFrame, finding: str, exports: Callable[[], None]) -> None:
    """What to see, in a sentence; one click away how to read it, and its export.

    There also stands why a number has no interval, if one has none, and where all are from.
    """
    missing = _PAIR not in frame and any(_lacks(frame, str(name)) for name in frame)
    too_few = say("figure.too_few", least=LEAST_UNITS) if missing else ""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        st.caption(_brief(caption), width="stretch")
        with st.popover(say("figure.reading"), type="tertiary"):
            for text in (finding, *stage().notes()):
                if text:
                    st.markdown(text)
            for text in (caption, too_few, source()):
                if text:
                    st.caption(text)
        with st.popover(say("figure.export"), type="tertiary", help=say("figure.export_help")):
            exports()


def _brief(caption: str) -> str:
    """As many first sentences of a text as make two lines."""
    shown = ""
    for each in sentences(caption):
        if shown and width_of(f"{shown} {each}") > _TWO_LINES:
            break
        shown = f"{shown} {each}".strip()
    return shown


def _lacks(frame: pd.DataFrame, end: str) -> bool:
    """Whether a column holds lower ends of intervals, and a number is there without one."""
    if not end.endswith("low"):
        return False
    number = end.removesuffix("_low")
    is_number = frame[number].notna() if number in frame and number != end else True
    return bool((frame[end].isna() & is_number).any())


def source(written: Callable[[object], str] = plain) -> str:
    """Where every number of the section comes from, a sentence a file, the open one first; names
    are `written` so."""
    stores = {each.version: each for each in (open_store(), *stage().stores)}
    return " ".join(_source(store, written) for store in stores.values())


def _source(store: Store, written: Callable[[object], str]) -> str:
    return say(
        "figure.source",
        file=written(store.name),
        model=written(store.model_name),
        revision=store.run["revision"].rpartition(":")[2][:_REVISION],
        corpus=written(store.run["corpus"]),
        n_sequences=f"{store.run['n_sequences']:,}",
    )


def _exports(
    key: str, question: str, frame: pd.DataFrame, chart: Any | None, finding: str = ""
) -> None:
    """Buttons whose files are made when they are clicked, in whatever state the page is then."""
    name = re.sub(r"\W+", "-", f"{open_store().version.name.removesuffix('.duckdb')}-{key}")
    made_by = f"{source(str)} Mixscope {open_store().run['tool_version']}."
    if chart is not None:
        told = (finding or question, f"{made_by} {link_here()}")
        for column, points in (("single", export.SINGLE), ("double", export.DOUBLE)):
            st.caption(say(f"figure.{column}"))
            with st.container(horizontal=True):
                for label, (made, mime) in _PICTURES.items():
                    data = partial(made, chart, *told, points=points)
                    file_name = f"{name}-{column}.{label.lower()}"
                    _button(f"{key}-{column}", label, file_name, mime, data)
    st.caption(say("figure.data"))
    told = f"{finding or question} {made_by}"
    titles = {str(column): title_or_name(str(column)) for column in frame}
    makers: dict[str, tuple[Callable[[], str | bytes], str, str]] = {
        "CSV": (lambda: export.csv(frame), "csv", "text/csv"),
        "Parquet": (lambda: export.parquet(frame), "parquet", "application/vnd.apache.parquet"),
        "LaTeX": (
            lambda: export.latex(frame, caption=told, label=name, titles=titles, link=link_here()),
            "tex",
            "application/x-tex",
        ),
    }
    with st.container(horizontal=True):
        for label, (made, ending, mime) in makers.items():
            _button(key, label, f"{name}.{ending}", mime, made)
    copied = {
        "figure.link": link_here(),
        "figure.cite": _bibliography(),
        "figure.sql": ";\n\n".join(stage().queries),
    }
    for title, text in copied.items():
        if text:
            st.caption(say(title))
            st.code(text, language="sql" if title == "figure.sql" else None, height=_FEW_LINES)


def _bibliography() -> str:
    """Mixscope, and the papers behind what is shown, as BibTeX."""
    papers = [PAPERS[key].bibtex(key) for key in stage().papers]
    return "\n".join([MIXSCOPE % open_store().run["tool_version"], *papers])


def _button(
    key: str, label: str, file_name: str, mime: str, data: Callable[[], str | bytes]
) -> None:
    st.download_button(label, data, file_name, mime, key=f"{key}-{label}", on_click="ignore")
