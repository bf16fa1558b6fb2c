"""The page opened on a section, and a file of masked sequences."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Opener, assert_sound
from tests.pages.test_browser import browser, server  # noqa: F401
from tests.small_store import build_store

SECTIONS = ("similarity", "ratio", "modules", "rollout", "completeness")


@pytest.fixture
def section(opened: Opener, store_folder: Path) -> Callable[..., AppTest]:
    """Opens a section, on the store of the passes unless another folder is given."""

    def open_section(
        view: str, folder: Path | None = None, lang: str = "en", **address: str
    ) -> AppTest:
        place = {"lm_view": view, **address}
        session = opened("layer_mixing", folder or store_folder, lang=lang, alone=False, **place)
        assert_sound(session)
        return session

    return open_section


@pytest.fixture(scope="session")
def masked_folder(tmp_path_factory) -> Path:
    """A store of sequences with [MASK] tokens, built by the real passes."""
    return build_store(tmp_path_factory.mktemp("masked"), mask_rate=0.3).parent
