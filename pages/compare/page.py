"""Several files side by side, and what differs between them beyond chance."""

from pages.compare import headlines
from pages.ui.page import Page

PAGE = Page("compare", "cmp", (headlines.headlines,))
PAGE.show()
