"""Checks of every section of every page."""

from importlib import import_module

from analysis.needs import Need
from pages.kit.section import Section


def sections(page: str) -> list[Section]:
    """The sections of a page, in their order."""
    return list(import_module(f"pages.{page}.page").PAGE.sections)


def stems(page: str) -> list[str]:
    """Names of a page's sections in the address."""
    return [section.name for section in sections(page)]


def home_of(page: str, section: Section) -> str:
    """Name of a file that has everything a section can show."""
    if page == "compare":
        return "steps"
    turned = {Need.KERNELS, Need.TURNED_POSITIONS}
    if any(not turned.isdisjoint(table.needs) for table in section.needs):
        return "turned"
    of_images = any(Need.IMAGES in table.needs for table in section.needs)
    return "images" if of_images or (page, section.name) == ("relevance", "map") else "treebank"
