"""Button to add a figure, table or text to the collection."""

from typing import Any

import streamlit as st

from pages.charts.chart_theme import with_data
from pages.charts.headline import unmarked
from pages.export.collection import collected, keep
from pages.export.item import Item, table_of
from pages.export.markup import clean
from pages.export.shown import Shown
from pages.kit.address import link_here
from pages.words.say import say


def collect_button(shown: Shown) -> None:
    """Draw a button that adds the content to the reader's collection."""
    full = collected().is_full
    st.button(
        say("collection.collect"),
        key=f"{shown.key}-collect",
        type="tertiary",
        disabled=full,
        help=say("collection.full" if full else "collection.collect_help"),
        on_click=_collect,
        args=(shown,),
    )


def _collect(shown: Shown) -> None:
    before = collected()
    keep(before.with_item(item_of(shown, link_here())))
    word = "known" if collected() == before else "collected"
    st.toast(say(f"collection.{word}", n=len(collected().items)))


def item_of(shown: Shown, link: str) -> Item:
    """Item with the chart of a figure, or the numbers of a table or a text.

    Args:
        link: address of the view; empty if unknown.
    """
    content: dict[str, Any]
    if shown.chart is None:
        content = {"body": clean(shown.body), **table_of(shown.printed)}
    else:
        content = {"chart": with_data(shown.chart)}
    return Item(
        question=unmarked(shown.question),
        finding=unmarked(shown.finding or shown.above),
        caption=unmarked(shown.caption),
        source=shown.source,
        link=link,
        version=shown.version,
        papers=shown.papers,
        **content,
    )
