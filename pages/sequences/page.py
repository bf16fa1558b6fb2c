"""Page on one text or image: shares between its tokens, vectors of a head, pairs that change."""

from pages.sequences.map import map_of_tokens
from pages.sequences.pairs import pairs
from pages.sequences.vectors import vectors
from pages.ui.page import Page
from pages.ui.store.absences import absences

SECTIONS = (map_of_tokens, vectors, pairs)
PAGE = Page("sequences", "seq", SECTIONS, before=(absences,), moved={"odd": "map"})

if __name__ == "__main__":
    PAGE.show()
