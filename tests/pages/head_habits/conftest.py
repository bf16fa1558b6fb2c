"""The page opened on a section."""

from tests.pages.conftest import section_of
from tests.pages.kit.after import after_of, scratch  # noqa: F401

SECTIONS = ("layers", "breadth", "gradients", "heads", "one_head", "weighing")

section = section_of("head_habits", "hh")
after, after_trees = after_of("store_folder"), after_of("treebank_folder")
