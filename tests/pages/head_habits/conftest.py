"""The page opened on a section, and files of other models than the usual one."""

from pathlib import Path

import pytest

from tests.pages.conftest import section_of
from tests.pages.test_browser import browser, server  # noqa: F401
from tests.small_store import build_store

SECTIONS = ("layers", "breadth", "gradients", "heads", "one_head")
STATISTICS = ["head_pattern", "gradient_importance", "head_token", "completeness"]

section = section_of("head_habits", "hh")


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    """A store of a causal model without special tokens, built by the real passes."""
    folder = tmp_path_factory.mktemp("gpt2")
    return build_store(folder, "gpt2", statistics=STATISTICS).parent
