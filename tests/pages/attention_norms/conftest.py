"""The page opened on a section, and files that differ in one thing from what the passes wrote."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
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


@pytest.fixture
def changed(store_folder: Path, tmp_path_factory) -> Callable[..., Path]:
    """A folder with the store of the passes after some statements."""

    def change(*statements: str) -> Path:
        path = tmp_path_factory.mktemp("changed") / "tiny.duckdb"
        copyfile(store_folder / "tiny.duckdb", path)
        with duckdb.connect(str(path)) as store:
            for statement in statements:
                store.execute(statement)
        return path.parent

    return change


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory) -> Path:
    """A store of a model with byte-level tokens and no segments, built by the real passes."""
    return build_store(tmp_path_factory.mktemp("roberta"), "roberta").parent


@pytest.fixture
def told(store_folder: Path) -> Callable[..., list[tuple]]:
    """What the file itself answers to a query."""

    def answer(query: str) -> list[tuple]:
        with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
            return store.execute(query).fetchall()

    return answer


def charts(session: AppTest) -> list[dict[str, Any]]:
    """The specifications of all charts on the page, in order."""
    return [json.loads(each.proto.spec) for each in session.get("vega_lite_chart")]


def bodies(session: AppTest) -> str:
    """All markup that the page writes itself."""
    return "\n".join(each.proto.body for each in session.get("html"))


def sentences(session: AppTest) -> str:
    return "\n".join(each.value for each in session.markdown)


def frames(session: AppTest) -> list[Any]:
    return [each.value for each in session.dataframe]


def in_address(session: AppTest, key: str) -> list[str]:
    """The values of a parameter of the address."""
    found = session.query_params.get(key, [])
    return [found] if isinstance(found, str) else list(found)
