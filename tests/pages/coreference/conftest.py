"""The page opened on a section, on documents with coreference."""

from pathlib import Path

import pytest

from tests.pages.conftest import section_of
from tests.small_store import build_store

SECTIONS = ("rules", "heads", "documents", "weighing")

section = section_of("coreference", "co")


@pytest.fixture(scope="session")
def store_folder(treebank_folder: Path) -> Path:
    """In this folder all tests look at documents with coreference."""
    return treebank_folder


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    """A store of a causal model on documents with coreference, built by the real passes."""
    folder = tmp_path_factory.mktemp("gpt2")
    names = ["coreference_accuracy", "coreference_best", "coreference_difference"]
    return build_store(folder, "gpt2", annotated=True, statistics=names).parent
