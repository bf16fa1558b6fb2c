"""The page opened on a section, and files of other models than the usual one."""

from pathlib import Path

import pytest

from tests.pages.conftest import section_of
from tests.pages.test_browser import browser, server  # noqa: F401
from tests.small_store import build_store

SECTIONS = ("map", "groups", "layers", "distances")

section = section_of("head_map", "hm")


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    """A store of a causal model without [CLS] and [SEP], built by the real passes."""
    statistics = ["head_layout", "head_linkage", "layer_cohesion", "head_pattern"]
    return build_store(tmp_path_factory.mktemp("gpt2"), "gpt2", statistics=statistics).parent


def of_key(exported: dict, key: str):
    """Frame and chart of the one figure whose key begins so."""
    (found,) = (each for name, each in exported.items() if name.startswith(key))
    return found
