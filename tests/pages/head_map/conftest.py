"""The page opened on a section."""

from tests.pages.conftest import section_of
from tests.pages.kit.after import after_of, scratch  # noqa: F401

SECTIONS = ("map", "groups", "layers", "distances", "weighing")

section = section_of("head_map", "hm")
after = after_of("store_folder")
