"""Sections of all pages, by page and stem; a page draws nothing when it is imported."""

from importlib import import_module

from pages.kit.page import Page
from pages.kit.section import Section
from pages.services.open_file import Store


def page_of(name: str) -> Page:
    """Page of a folder."""
    return import_module(f"pages.{name}.page").PAGE


def section_of(store: Store, page: str, stem: str) -> Section:
    """Section of a stem; of several, the one for models like that of a file."""
    parts = [part for part in page_of(page).sections if part.name == stem]
    return next((part for part in parts if part.when(store)), parts[-1])
