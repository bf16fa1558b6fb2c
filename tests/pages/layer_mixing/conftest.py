"""The page opened on a section, and a file of masked sequences."""

from pathlib import Path

import pytest

from tests.pages.conftest import section_of
from tests.pages.kit.section_checks import sections
from tests.shared_store import shared_store

SECTIONS = (
    "similarity",
    "ratio",
    "frequency",
    "modules",
    "rollout",
    "vectors",
    "completeness",
)

section = section_of("layer_mixing", "lm")


@pytest.fixture(scope="session")
def masked_folder(tmp_path_factory) -> Path:
    """A store of sequences with [MASK] tokens, built by the real passes."""
    needed = sorted({each.name for view in sections("layer_mixing") for each in view.needs})
    return shared_store(tmp_path_factory, mask_rate=0.3, statistics=needed).parent
