"""Page of data sections, and the frame around each."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from pages.charts.headline import unmarked
from pages.export.item import Item, item_of
from pages.export.shown import Shown
from pages.kit.address import LONGEST_TEXT, dropped, one_entry
from pages.kit.beside import Comparison, comparison_of
from pages.kit.found import Found
from pages.kit.frame import Frame
from pages.kit.head_choice import HEAD, read_old_links, short_name
from pages.kit.items import Drawn, Figure, Markup, Table, Text, every_item
from pages.kit.links import link_to_view
from pages.kit.picker import pick
from pages.kit.presentation import present_toggle, slides
from pages.kit.recorded import fill, findings
from pages.kit.section import Section
from pages.kit.source import Given, Otherwise, Reader, SectionEnds
from pages.kit.table_documentation import about
from pages.kit.view import View
from pages.services.absences import absences
from pages.services.chosen import open_store, stores
from pages.services.inquiry import Inquiry
from pages.services.missing import absence, require
from pages.services.open_file import Store, seen_once
from pages.words.say import plain, say
from pages.words.scope import key_of, say_here, words_of

OF_HEAD = "head"
"""The page on one head."""


@dataclass(frozen=True)
class Page:
    """A page of the contents.

    `prefix` starts the names of its choices in the address. `moved` maps sections in older
    addresses to their successors. `before` draws further content of the introduction.
    """

    name: str
    prefix: str
    sections: tuple[Section, ...]
    moved: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[Callable[[Inquiry], None]] = ()

    def show(self) -> None:
        """Draw title, content above the sections, and the section that the address names."""
        with one_entry(), seen_once(), words_of(self.name):
            read_old_links()
            is_presented = present_toggle()
            with st.container(horizontal=True, vertical_alignment="center", key="bar"):
                title = say_here("title")
                st.title(title, anchor=False, width="stretch")
                notes = st.popover(say("page.about"), type="tertiary")
            store = open_store()  # errors are shown here, not in the closed notes
            with notes:
                st.markdown(say_here("lead"))
                for draw in (absences, *self.before):
                    draw(Inquiry(store))
            stems = {part.name: part for part in self.sections if part.when(store)}
            names = {stem: say_here(f"view_{stem}") for stem in stems}
            with st.container(key="sections"):
                chosen = pick(
                    f"{self.prefix}_view",
                    say("page.section"),
                    list(stems),
                    default=next(iter(stems)),
                    format=names.__getitem__,
                    moved=self.moved,
                )
            st.set_page_config(page_title=f"{names[chosen]} · {title} · Mixscope")
            self._frame(stems[chosen], store, notes, is_presented=is_presented)

    def findings(self, store: Store) -> list[Found]:
        """Findings of a file, in the order of the sections."""
        asked = [part for part in self.sections if part.finding and part.finding.overview != ()]
        return [
            finding
            for part in asked  # `when` of others may open all files of the folder
            if part.when(store) and store.holds(*part.needs)
            for finding in self._findings_of(part, store)
        ]

    def _findings_of(self, part: Section, store: Store) -> list[Found]:
        """Findings of a section, with their place and the SQL behind them."""
        inquiry = Inquiry(store)
        found = list(findings(part, self.name, inquiry))
        place = {"page": self.name, "view": part.name, "queries": tuple(inquiry.asked.queries)}
        return [replace(finding, **place) for finding in found]

    def _frame(self, shown: Section, store: Store, notes: Any, *, is_presented: bool) -> None:
        """Run a section, then draw it with its frame, or its views as slides."""
        with words_of(self.name, shown.name):
            view = View(self.prefix, shown.name, store, needs=shown.needs)
            if reason := shown.lacks(view):
                st.info(reason)
                return
            require(store, *shown.needs)
            with notes:
                st.header(say_here("title"), anchor=False)
                if key_of("meaning"):
                    st.markdown(say_here("meaning"))
            try:
                with suppress(SectionEnds):
                    fill(shown, view)
            finally:
                if not is_presented:
                    _link_to_head(self.name, view)
                    Frame(partial(self._comparison, shown, store)).draw(view.items)
            if is_presented:
                self._present(shown, store, view)
                return
            for text in view.rest():
                st.markdown(text)
            for key, names in dropped().items():
                values = plain(" ".join(names)[:LONGEST_TEXT])
                st.toast(say("page.dropped", key=key, values=values), duration="long")
            held = [table for table in shown.also if store.holds(table)]
            about(*shown.needs, *(held or shown.also))

    def _comparison(
        self, shown: Section, store: Store, of: Any, given: Given | None = None
    ) -> Comparison | None:
        """Comparisons that a figure of a section offers; one without a name offers none."""
        if not isinstance(of, Figure) or not of.name:
            return None
        rerun = partial(self.figure_if, shown, store, given=given)
        offered = comparison_of(of, store, shown.needs, rerun)
        return replace(offered, value=given.value) if offered and given else offered

    def content(self, shown: Section, store: Store, given: Given, name: str) -> Shown | str:
        """Figure, table or text of a section by its name, with the comparison that is chosen.

        Returns:
            A reason if the section does not show it.
        """
        items = self.run(shown, store, given, f"{self.prefix}_{name}").items
        item = next((item for item in _views(items) if item.shown.name == name), None)
        if item is None:
            reasons = (
                one.body
                for one in every_item(items)
                if isinstance(one, Text) and one.kind == "info"
            )
            return unmarked(next(reasons, say("collection.not_shown")))
        return _content_of(item, self._comparison(shown, store, item, given))

    def _present(self, shown: Section, store: Store, view: View) -> None:
        """Draw what a section shows as slides."""
        views = _views(view.items)

        def item_at(at: int) -> Item:
            return item_of(_content_of(views[at], self._comparison(shown, store, views[at])))

        slides(len(views), item_at)

    def run(self, shown: Section, store: Store, choices: Reader, until: str = "") -> View:
        """Run a section with nothing drawn; what it lacks is a text among its items.

        Args:
            until: as of `View`.
        """
        given: dict[str, Any] = {"choices": choices, "needs": shown.needs, "until": until}
        view = View(self.prefix, shown.name, store, **given)
        with words_of(self.name, shown.name), suppress(SectionEnds):
            reason = shown.lacks(view)
            refused = [Text("info", reason)] if reason else absence(store, *shown.needs)
            for item in refused:
                view.add(item)
            if not refused:
                fill(shown, view)
        return view

    def figure_if(
        self,
        shown: Section,
        store: Store,
        name: str,
        made: Mapping[str, str],
        given: Given | None = None,
    ) -> Figure | None:
        """Figure of a section that runs with some choices made otherwise.

        Args:
            name: of the figure, with the prefix of the page.
            made: names of options, by the keys of choices.
            given: all other choices; by default the reader's.

        Returns:
            None if the section does not show it with these choices.
        """
        if "file" in made:
            store = next(other for other in stores() if other.name == made["file"])
        others = {key: [option] for key, option in made.items()}
        choices = Given({**given.names, **others}) if given else Otherwise(made)
        items: list[Any] = []
        place = st.empty()  # for notices of a model that runs
        with place.container(), suppress(StopException):  # of a file that cannot be read
            items = self.run(shown, store, choices, until=name).items
        place.empty()
        figures = (item for item in every_item(items) if isinstance(item, Figure))
        return next((item for item in figures if item.name == name), None)


def _views(items: Sequence[Any]) -> list[Figure | Table | Markup]:
    """Return the figures, tables and texts among items, in order."""
    return [item for item in every_item(items) if isinstance(item, Figure | Table | Markup)]


def _content_of(item: Figure | Table | Markup, comparison: Comparison | None) -> Shown:
    """Content of an item, with the comparison that is chosen, and its markup as text."""
    if isinstance(item, Figure) and comparison and comparison.is_chosen:
        return comparison.added_to(item, share=1.0)
    if not isinstance(item, Markup):
        return item.shown
    body = item.body
    if not isinstance(body, str):
        place = st.empty()
        with place.container():  # what it draws is not needed
            body = body()
        place.empty()
    return replace(item.shown, body=body)


def _link_to_head(page: str, view: View) -> None:
    """Add a link to the picked head's own page, below the first chart."""
    if page == OF_HEAD or HEAD not in view.picked:
        return
    chosen = view.picked[HEAD].chosen
    name = say("head_picker.open", head=short_name(*chosen.split("-")))
    charts = (any(isinstance(one, Figure) for one in every_item([item])) for item in view.items)
    at = next((at for at, has_chart in enumerate(charts, 1) if has_chart), len(view.items))
    link = partial(link_to_view, OF_HEAD, "profile", name, head=chosen)
    view.items.insert(at, Drawn(link))
