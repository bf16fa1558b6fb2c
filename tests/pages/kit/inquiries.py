"""Views and inquiries of tests that call parts of sections."""

from pages.services.chosen import open_store
from pages.services.inquiry import Inquiry


def inquiry() -> Inquiry:
    """Inquiry into the first file of the folder."""
    return Inquiry(open_store())
