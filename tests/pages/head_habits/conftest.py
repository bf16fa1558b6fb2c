"""The page opened on a section."""

from tests.pages.conftest import section_of

SECTIONS = ("layers", "breadth", "gradients", "heads", "one_head", "weighing")

section = section_of("head_habits", "hh")
