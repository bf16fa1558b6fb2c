"""The page opened on a section, on sentences with trees."""

from pathlib import Path

import pytest

from tests.pages.conftest import section_of
from tests.small_store import build_store

HEADS = ("heads", "one_head", "sentences")
SECTIONS = ("relations", *HEADS, "parsers", "weighing")

section = section_of("syntax", "sy")


@pytest.fixture(scope="session")
def store_folder(treebank_folder: Path) -> Path:
    """In this folder all tests look at a treebank."""
    return treebank_folder


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    """A store of a causal model on sentences with trees, built by the real passes."""
    folder = tmp_path_factory.mktemp("gpt2")
    names = ["dependency_accuracy", "dependency_best", "dependency_baseline", "parser_accuracy"]
    names.append("dependency_difference")
    return build_store(folder, "gpt2", annotated=True, statistics=names).parent
