"""Views and inquiries of tests that call parts of sections."""

from typing import Any, cast

from pages.kit.view import View
from pages.services.chosen import open_store
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store


def inquiry() -> Inquiry:
    """Inquiry into the first file of the folder."""
    return Inquiry(open_store())


def view_of(prefix: str, stem: str, store: Any = None) -> View:
    """View for functions that ask no file, unless one is given."""
    return View(prefix, stem, cast(Store, store))
