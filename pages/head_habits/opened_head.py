"""Picker for one head, with its details below a chart of all heads."""

from analysis.statistics.heads import head_pattern
from pages.ui.head.bar import clicked_head
from pages.ui.head.choice import Head, head_with_most
from pages.ui.head.habits import GROUPS
from pages.ui.store.chosen import ask
from pages.ui.view import View

_SEEN = (*GROUPS["special"], "previous", "next")


def opened_head(view: View, *charts: str) -> Head:
    """Return the selected head; by default the one with the largest share for one kind of token.

    Args:
        charts: names of the figures and tables whose clicks choose a head.
    """
    frame = ask(head_pattern.heads)
    clearest = head_with_most(frame[frame["quantity"].isin(_SEEN)], "mean")
    return clicked_head(view, *charts, default=clearest)
