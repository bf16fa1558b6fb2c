"""The page opened on a section."""

from tests.pages.conftest import section_of

SECTIONS = ("map", "groups", "layers", "distances", "weighing")

section = section_of("head_map", "hm")
