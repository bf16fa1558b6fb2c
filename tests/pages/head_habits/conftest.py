"""The page opened on a section."""

from tests.pages.conftest import section_of
from tests.pages.test_browser import browser, server  # noqa: F401

SECTIONS = ("layers", "breadth", "gradients", "heads", "one_head", "weighing")

section = section_of("head_habits", "hh")
