"""The page opened on a section."""

from tests.pages.conftest import section_of
from tests.pages.kit.after import after_of, scratch  # noqa: F401

section = section_of("sinks", "si")
after = after_of("store_folder")
