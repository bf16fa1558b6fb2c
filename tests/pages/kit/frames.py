"""Frames behind the figures, tables and findings of a section."""

from contextlib import suppress

import pandas as pd

from pages.kit.items import Figure, Markup, Table, every_item
from pages.kit.page import Page
from pages.kit.recorded import fill
from pages.kit.run import Run, within
from pages.kit.section import Section
from pages.kit.source import Given, SectionEnds
from pages.kit.view import View
from pages.services.chosen import speak_of_file
from pages.services.open_file import Store

Frames = dict[str, tuple[pd.DataFrame, str]]  # frame and headline by name


def shown(page: Page, section: Section, store: Store, names: dict[str, list[str]]) -> Frames:
    """Frames of a section with some choices; the name of a later figure has its number."""
    view = View(page.prefix, section.name, store, choices=Given(names), needs=section.needs)
    speak_of_file(store)
    with within(Run(words=(page.name, section.name))), suppress(SectionEnds):
        fill(section, view)
    frames: Frames = {}
    for item in every_item(view.items):
        if isinstance(item, Figure | Table | Markup):
            frame = item.full if isinstance(item, Table) else item.shown.frame
            key, n = item.shown.key, 1
            while (name := key if n == 1 else f"{key} {n}") in frames:
                n += 1
            frames[name] = (frame, item.shown.finding or item.shown.above)
    return frames
