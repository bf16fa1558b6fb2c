"""Page on antecedents found by heads, compared with simple rules (Clark et al. 2019)."""

from pages.coreference.documents import documents
from pages.coreference.heads import heads
from pages.coreference.rules import rules
from pages.ui.page import Page
from pages.ui.store.absences import masked_places

SECTIONS = (rules, heads, documents)
PAGE = Page("coreference", "co", SECTIONS, before=(masked_places,), moved={"weighing": "rules"})

if __name__ == "__main__":
    PAGE.show()
