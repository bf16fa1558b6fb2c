"""What pages on treebanks are opened on, instead of stores of plain texts."""

from pathlib import Path

import pytest

from tests.shared_store import shared_store

OF_CAUSAL = (
    *("dependency_accuracy", "dependency_best", "dependency_baseline", "dependency_difference"),
    *("coreference_accuracy", "coreference_best", "coreference_difference", "parser_accuracy"),
)


@pytest.fixture(scope="session")
def store_folder(treebank_folder: Path) -> Path:
    """Sentences with trees and documents with coreference."""
    return treebank_folder


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    """The same of a causal model, built by the real passes."""
    chosen = {"annotated": True, "statistics": list(OF_CAUSAL)}
    return shared_store(tmp_path_factory, "gpt2", **chosen).parent
