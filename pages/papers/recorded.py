"""A section run for one figure or table, with nothing drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from analysis.published.numbers import Published
from pages.kit.items import Figure, Item, Markup, Table, Text, every_item
from pages.kit.published_table import Row
from pages.kit.section import Section
from pages.kit.sections import page_of, section_of
from pages.kit.source import Given
from pages.kit.view import View
from pages.papers.entries import Entry
from pages.services.open_file import Store
from pages.words.say import say

_DEMOS = {
    "adds_positions": "mixscope run --model demo --corpus demo --output statistics/demo.duckdb",
    "shows_images": (
        "mixscope run --model demo-digits --corpus demo-digits "
        "--output statistics/demo-digits.duckdb"
    ),
}
"""Commands that make a file with a property of `Entry.only`."""


@dataclass(frozen=True)
class Recorded:
    """Contents of a section under some choices.

    Attributes:
        figure: the figure, table or markup of an entry; None if the section does not show it.
        frames: data of all of them, by name.
        rows: printed numbers with the file's own.
        choices: names of the options that hold.
        reason: of a missing figure.
        command: that makes a file which has it; empty if none would.
    """

    figure: Figure | Table | Markup | None
    frames: Mapping[str, pd.DataFrame]
    rows: tuple[Row, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    command: str = ""


def recorded(store: Store, entry: Entry) -> Recorded:
    """Run the section of an entry with the choices of the paper.

    The printed numbers may be shown by another section, which is run too.
    """
    items, view = run_section(store, entry, section_of(store, entry.page, entry.view))
    rows = view.published
    if entry.printed_in:
        other = replace(entry, page=entry.printed_in[0])
        rows = run_section(store, other, section_of(store, *entry.printed_in))[1].published
    views = (item for item in items if isinstance(item, Figure | Table | Markup))
    named = {item.shown.name: item for item in views}
    texts = {item.kind: item.body for item in reversed(items) if isinstance(item, Text)}
    names = {key: view.picked[key].chosen for key in entry.choices if key in view.picked}
    return Recorded(
        next((named[name] for name in entry.figure.split() if name in named), None),
        {name: item.shown.frame for name, item in named.items()},
        tuple(row for row in rows if _is_printed_in(row.published, entry)),
        {key: names.get(key, wanted[0]) for key, wanted in entry.choices.items()},
        reason=texts.get("info", ""),
        command=texts.get("code", ""),
    )


def run_section(store: Store, entry: Entry, section: Section) -> tuple[list[Item], View]:
    """Run a section; return its items, or the reason why it is not shown as a text among them.

    It ends at the figure of the entry, unless it shows the printed numbers, which come later.
    """
    page = page_of(entry.page)
    shows_printed = bool(entry.printed) and (
        (page.name, section.name) == (entry.printed_in or (entry.page, entry.view))
    )
    if refused := _refused(store, entry, section):
        return refused, View(page.prefix, section.name, store, choices=Given(entry.choices))
    until = "" if shows_printed else f"{page.prefix}_{entry.figure}"
    view = page.run(section, store, Given(entry.choices), until)
    return list(every_item(view.items)), view


def _is_printed_in(number: Published, entry: Entry) -> bool:
    return number.quantity == entry.printed and number.place[1] in (entry.cells or number.place)


def _refused(store: Store, entry: Entry, section: Section) -> list[Item]:
    """Reason why the open file's model or corpus is not one of those that an entry is for."""
    if entry.only and not getattr(store, entry.only):
        command = [Text("code", _DEMOS[entry.only])] if entry.only in _DEMOS else []
        return [Text("info", say(f"papers.not_{entry.only}")), *command]
    return [] if section.when(store) else [Text("info", say("papers.not_shown"))]
