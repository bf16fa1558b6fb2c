"""Several files side by side, and what differs between them beyond chance."""

from pages.compare import headlines, heads, layers, pairs, training
from pages.ui.page import Page

PAGE = Page(
    "compare",
    "cmp",
    (headlines.headlines, layers.layers, heads.heads, pairs.pairs, training.training),
)
PAGE.show()
