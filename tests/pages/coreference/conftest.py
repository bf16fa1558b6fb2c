"""The page opened on a section, on documents with coreference."""

from tests.pages.conftest import section_of
from tests.pages.kit.after import after_of, scratch  # noqa: F401
from tests.pages.kit.treebanks import gpt2_folder, store_folder  # noqa: F401

SECTIONS = ("rules", "heads", "documents", "weighing")

section = section_of("coreference", "co")
after = after_of("store_folder")
