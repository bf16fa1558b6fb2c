"""Sections of all pages, by page and stem; a page draws nothing when it is imported."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from analysis.statistics.base.tables import Table
from pages.kit.links import VIEWS
from pages.kit.page import Page
from pages.kit.section import Section
from pages.services.open_file import Store


def page_of(name: str) -> Page:
    """Page of a folder."""
    return import_module(f"pages.{name}.page").PAGE


def paper_entries() -> tuple[Any, ...]:
    """Figures and tables of the papers, paper by paper, as the page Papers has them."""
    return import_module("pages.papers.entries").ENTRIES


def section_of(store: Store, page: str, stem: str) -> Section:
    """Section of a stem; of several, the one for models like that of a file."""
    parts = [part for part in page_of(page).sections if part.name == stem]
    return next((part for part in parts if part.when(store)), parts[-1])


def sections(store: Store | None = None) -> list[tuple[str, Section]]:
    """Sections with their pages, in the order of the contents; of a file, those it is offered."""
    every = ((page, part) for page in VIEWS for part in page_of(page).sections)
    return [(page, part) for page, part in every if store is None or part.when(store)]


def sections_with(tables: Iterable[Table], store: Store | None = None) -> list[tuple[str, str]]:
    """Pages and stems of the sections that show any of these tables."""
    wanted = set(tables)
    found = (
        (page, part.name)
        for page, part in sections(store)
        if wanted.intersection(part.needs + part.also)
    )
    return list(dict.fromkeys(found))
