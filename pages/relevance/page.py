"""Page on relevance propagated to the input (Sawaki and Murata 2025)."""

from pages.relevance.corpus import corpus
from pages.relevance.methods import methods
from pages.relevance.one_image import one_image
from pages.relevance.one_text import one_text
from pages.ui.page import Page
from pages.ui.store.open_file import Store


def _lead(store: Store) -> str:
    """Word for the lead text, by the kind of the open file's model."""
    if not store.shows_images:
        return "lead_text"
    return "lead_patches" if store.facts["relevance_start"] == "patches" else "lead"


PAGE = Page("relevance", "re", (one_image, one_text, methods, corpus), lead=_lead)

if __name__ == "__main__":
    PAGE.show()
