"""Views and inquiries of tests that call parts of sections."""

from typing import Any, cast

from pages.ui.store.chosen import open_store
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.view import View


def inquiry() -> Inquiry:
    """Inquiry into the first file of the folder."""
    return Inquiry(open_store())


def view_of(prefix: str, stem: str, store: Any = None) -> View:
    """View for functions that ask no file, unless one is given."""
    return View(prefix, stem, cast(Store, store))
