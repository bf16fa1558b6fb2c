"""What every page offers to the pages that gather from all of them."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from pages.ui.contents import PAGES


def collected(stem: str) -> Iterator[ModuleType]:
    """The module of this name of every page that has one, in the order of the contents."""
    for page in PAGES:
        name = f"pages.{page}.{stem}"
        if find_spec(name):
            yield import_module(name)
