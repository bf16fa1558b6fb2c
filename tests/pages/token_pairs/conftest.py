"""The page opened on a section, and what a file says of its pairs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Opener, assert_sound
from tests.pages.test_browser import browser, server  # noqa: F401
from tests.small_store import build_store

SECTIONS = ("tables", "layer", "browse", "pair", "pmi")


@pytest.fixture
def section(opened: Opener, store_folder: Path) -> Callable[..., AppTest]:
    """Opens a section, on the store of the passes unless another folder is given."""

    def open_section(
        view: str, folder: Path | None = None, lang: str = "en", **address: str
    ) -> AppTest:
        place = {"tp_view": view, **address}
        session = opened("token_pairs", folder or store_folder, lang=lang, alone=False, **place)
        assert_sound(session)
        return session

    return open_section


@pytest.fixture
def store(store_folder: Path) -> Iterator[DuckDBPyConnection]:
    """The file itself, to be asked what a section has to show."""
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory) -> Path:
    """A store of a model with byte-level tokens and no segments, built by the real passes."""
    return build_store(tmp_path_factory.mktemp("roberta"), "roberta").parent
