"""Page on one text or image: shares between its tokens, and its numbers among all sequences'."""

from pages.sequences.map import map_of_tokens
from pages.sequences.odd import odd
from pages.sequences.pairs import pairs
from pages.sequences.vectors import vectors
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page("sequences", "seq", (map_of_tokens, vectors, pairs, odd), before=(absences,))

if __name__ == "__main__":
    PAGE.show()
