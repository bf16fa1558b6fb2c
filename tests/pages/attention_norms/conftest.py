"""The page opened on a section, and what sections are made of."""

from tests.pages.conftest import section_of
from tests.pages.kit.after import after_of, scratch  # noqa: F401

SECTIONS = ("layers", "heads", "head", "relation", "dispersion", "spectra", "frequency")
TYPES = ("cls", "sep", "comma_period", "other")

section = section_of("attention_norms", "an")
after = after_of("store_folder")
