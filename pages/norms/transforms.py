"""Reasons why f has no singular values in a model, or tokens no norm ‖f(x)‖ of their own."""

from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.words.scope import say_here


def no_affine_map(inquiry: Inquiry) -> str:
    """Say why f is no affine map of a token; empty if it is one."""
    return say_here("latent") if _kind(inquiry.store) == "latent" else by_gates(inquiry)


def by_gates(inquiry: Inquiry) -> str:
    """Say that f depends on the query; empty if it does not."""
    return say_here("gated") if _kind(inquiry.store) == "gated" else ""


def _kind(store: Store) -> str:
    return store.facts.get("transforms", "affine")
