"""Picker for one head, with its details below a chart of all heads."""

from analysis.statistics.heads import head_pattern
from pages.ui.head.choice import Head, head_with_most
from pages.ui.head.habits import GROUPS
from pages.ui.head.picker import pick_head
from pages.ui.view import View

_SEEN = (*GROUPS["special"], "previous", "next")


def opened_head(view: View) -> Head:
    """Return the selected head; by default the one with the largest share for one kind of token."""
    frame = view.ask(head_pattern.heads)
    clearest = head_with_most(frame[frame["quantity"].isin(_SEEN)], "mean")
    return pick_head(view, default=clearest)
