"""The page opened on a section, on sentences with trees."""

from tests.pages.conftest import section_of
from tests.pages.kit.after import after_of, scratch  # noqa: F401
from tests.pages.kit.treebanks import gpt2_folder, store_folder  # noqa: F401

HEADS = ("heads", "one_head", "sentences")
SECTIONS = ("relations", *HEADS, "parsers", "weighing")

section = section_of("syntax", "sy")
after = after_of("store_folder")
