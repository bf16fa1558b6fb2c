"""The page opened on a section, and what it offers for export."""

from tests.pages.conftest import section_of

SECTIONS = ("map", "groups", "layers", "distances", "weighing")

section = section_of("head_map", "hm")


def of_key(exported: dict, key: str):
    """Frame and chart of the one figure whose key begins so."""
    (found,) = (each for name, each in exported.items() if name.startswith(key))
    return found
