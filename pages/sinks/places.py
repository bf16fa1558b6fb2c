"""Places on which attention may rest, such as the opening token."""

from analysis.sinks import FIRST
from pages.kit.section import Choices, query
from pages.ui.charts.colours import PLACE_COLOURS
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View


def places(inquiry: Inquiry, _: Choices | None = None) -> list[str]:
    """Places that some sequence has, in the order of `PLACE_COLOURS`."""
    present = set(inquiry.ask(query, sql="select distinct place from sink", values={})["place"])
    return [place for place in PLACE_COLOURS if place in present]


def usual_place(inquiry: Inquiry, _: Choices | None = None) -> str:
    """Default place: the token that opens a sequence, the usual attention sink."""
    present = places(inquiry)
    return next((place for place in ("bos", "cls") if place in present), FIRST)


def pick_place(view: View) -> str:
    """Let the reader pick a place."""
    return view.pick("place", places(view), default=usual_place(view), kind="select")
