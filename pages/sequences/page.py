"""One text or image looked into: who takes what from whom, and is it like the others?"""

from pages.sequences.map import map_of_tokens
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page("sequences", "seq", (map_of_tokens,), before=(absences,))
PAGE.show()
