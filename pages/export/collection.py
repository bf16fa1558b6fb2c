"""Collection of one reader's items, in order, kept for the session."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.export.item import Item
from pages.export.shown import bibliography

MOST_ITEMS = 60
_KEY = "what was collected"


@dataclass(frozen=True)
class Collection:
    """Items in order under a title."""

    title: str = ""
    items: tuple[Item, ...] = ()

    @property
    def is_full(self) -> bool:
        return len(self.items) >= MOST_ITEMS

    def titled(self, title: str) -> "Collection":
        return replace(self, title=title)

    def with_item(self, item: Item) -> "Collection":
        """Return the collection with one more item at the end, unless it is there already."""
        known = {other.question: other for other in self.items if other.link == item.link}
        if self.is_full or item.question in known:
            return self
        return replace(self, items=(*self.items, item))

    def without(self, place: int) -> "Collection":
        return replace(self, items=(*self.items[:place], *self.items[place + 1 :]))

    def noted(self, place: int, note: str) -> "Collection":
        items = list(self.items)
        items[place] = replace(items[place], note=note)
        return replace(self, items=tuple(items))

    def moved(self, place: int, to: int) -> "Collection":
        """Return the collection with one item moved; places are counted from 0."""
        items = list(self.items)
        items.insert(to, items.pop(place))
        return replace(self, items=tuple(items))

    def bibliography(self) -> str:
        """BibTeX of the Mixscope versions that showed the items, and of the papers behind them."""
        papers = tuple(dict.fromkeys(paper for item in self.items for paper in item.papers))
        return bibliography(papers, ", ".join(dict.fromkeys(item.version for item in self.items)))


def collected() -> Collection:
    """Collection of this session's reader."""
    return st.session_state.get(_KEY, Collection())


def keep(collection: Collection) -> None:
    st.session_state[_KEY] = collection
