"""Reason why tokens have no norm ‖f(x)‖ of their own in a model."""

from pages.services.inquiry import Inquiry
from pages.words.scope import say_here


def by_gates(inquiry: Inquiry) -> str:
    """Say that f depends on the query; empty if it does not."""
    return say_here("gated") if inquiry.store.facts.get("transforms") == "gated" else ""
