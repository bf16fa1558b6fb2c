"""Folders of tiny models, each saved once."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import NoneType

import pytest

from tests.precompute.models.changed_files import NESTED, save_composite
from tests.tiny import TINY, save_tiny


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Callable[..., Path]:
    """Save a family's tiny model, or a composite, with the heads that it may have unless bare."""

    @cache
    def save(family: str, *, bare: bool = False) -> Path:
        folder = tmp_path_factory.mktemp(family) / "model"
        if family in NESTED:
            return save_composite(family, folder)
        has_head = family in TINY and TINY[family].language_model is not NoneType
        return save_tiny(family, folder, predicts_tokens=has_head and not bare)

    return save


@pytest.fixture
def copied(saved, tmp_path) -> Callable[..., Path]:
    """A copy of a saved model, to be changed."""
    return lambda family, **how: Path(shutil.copytree(saved(family, **how), tmp_path / "model"))
