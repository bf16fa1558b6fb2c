"""Comparison of several files, with tests of their differences."""

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

if __name__ == "__main__":
    PAGE.show()
