"""The page opened on a section, and the file of another family."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Opener, assert_sound
from tests.pages.test_browser import browser, server  # noqa: F401
from tests.small_store import build_store

SECTIONS = ("layers", "heads", "head", "relation", "dispersion", "spectra", "frequency")
TYPES = ("cls", "sep", "comma_period", "other")


@pytest.fixture
def section(opened: Opener, store_folder: Path) -> Callable[..., AppTest]:
    """Opens a section, on the store of the passes unless another folder is given."""

    def open_section(
        view: str, folder: Path | None = None, lang: str = "en", **address: str
    ) -> AppTest:
        place = {"an_view": view, **address}
        session = opened("attention_norms", folder or store_folder, lang=lang, alone=False, **place)
        assert_sound(session)
        return session

    return open_section


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory) -> Path:
    """A store of a model with byte-level tokens and no segments, built by the real passes."""
    return build_store(tmp_path_factory.mktemp("roberta"), "roberta").parent
