"""Documentation of a page's tables, from their contracts."""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from analysis.sources import PAPERS
from analysis.statistics.base.tables import Table, View
from pages.kit.folds import folded
from pages.words.contracts import translation
from pages.words.say import say
from pages.words.scope import here


def about(*tables: Table) -> None:
    """Show grain, columns, units, source and laws of each table in a fold."""
    if not tables:
        return
    key = "_".join(("about", *here()))
    folded("expander", say("about.title"), key, partial(contracts, tables))


def contracts(tables: Iterable[Table]) -> None:
    """Show source, public views and laws of each table."""
    for table in tables:
        st.markdown(f"{say('about.source')} {citation(table.source)}")
        for view in table.all_views:
            st.markdown(f"**`{view.name}`** — {translation(view.grain)}")
            view_columns(view)
        if table.laws:
            laws = " · ".join(f"`{law}`" for law in table.laws)
            st.caption(f"{say('about.laws')} {laws}")


def citation(key: str) -> str:
    """Paper as a link."""
    paper = PAPERS[key]
    return f"[{paper.authors} ({paper.year}). {paper.title}]({paper.url})"


def view_columns(view: View) -> None:
    """Tabulate meaning and unit of each column of a view."""
    heads = "|".join(say(f"about.{heading}") for heading in ("column", "meaning", "unit"))
    rows = [
        f"|`{column.name}`|{translation(column.definition)}|{translation(column.unit)}|"
        for column in view.columns
    ]
    st.markdown("\n".join([f"|{heads}|", "|---|---|---|", *rows]))
