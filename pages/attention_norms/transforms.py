"""Reasons why f has no singular values in a model, or tokens no norm ‖f(x)‖ of their own."""

from pages.ui.store.chosen import open_store
from pages.ui.words.place import say_here


def no_affine_map() -> str:
    """Say why f is no affine map of a token; empty if it is one."""
    return say_here("latent") if _kind() == "latent" else by_gates()


def by_gates() -> str:
    """Say that f depends on the query; empty if it does not."""
    return say_here("gated") if _kind() == "gated" else ""


def _kind() -> str:
    return open_store().facts.get("transforms", "affine")
