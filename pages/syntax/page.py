"""Page on dependency relations in heads and trees from attention (Clark et al. 2019)."""

from pages.syntax.heads import heads
from pages.syntax.one_head import one_head
from pages.syntax.parsers import parsers
from pages.syntax.relations import relations
from pages.syntax.sentences import sentences
from pages.ui.page import Page
from pages.ui.store.absences import masked_places

SECTIONS = (relations, heads, one_head, sentences, parsers)
PAGE = Page("syntax", "sy", SECTIONS, before=(masked_places,), moved={"weighing": "relations"})

if __name__ == "__main__":
    PAGE.show()
