"""Several files side by side, and what differs between them beyond chance."""

from pages.compare import head_changes, headlines, heads, layers, pairs, training
from pages.ui.page import Page

PAGE = Page(
    "compare",
    "cmp",
    (
        headlines.headlines,
        layers.layers,
        head_changes.head_changes,
        heads.heads,
        pairs.pairs,
        training.training,
    ),
)
PAGE.show()
