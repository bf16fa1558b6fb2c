"""Places on which attention may rest, such as the opening token."""

from analysis.sinks import FIRST
from pages.charts.colours import PLACE_COLOURS
from pages.kit.section import Choices, rows_of
from pages.services.inquiry import Inquiry


def places(inquiry: Inquiry, _: Choices | None = None) -> list[str]:
    """Places that some sequence has, in the order of `PLACE_COLOURS`."""
    present = set(rows_of("select distinct place from sink", inquiry, {})["place"])
    return [place for place in PLACE_COLOURS if place in present]


def usual_place(inquiry: Inquiry, _: Choices | None = None) -> str:
    """Default place: the token that opens a sequence, the usual attention sink."""
    present = places(inquiry)
    return next((place for place in ("bos", "cls") if place in present), FIRST)
