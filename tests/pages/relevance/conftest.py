"""The page opened on a section, and files of images after some statements."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.words.place import words_of
from tests.pages.conftest import section_of

section = section_of("relevance", "re")


@pytest.fixture
def over_image(section, images_folder) -> Callable[..., AppTest]:
    """Opens the section on one image, of the store of images unless another folder is given."""

    def open_section(folder: Path | None = None, **address: str) -> AppTest:
        return section("map", folder or images_folder, **address)

    return open_section


@pytest.fixture
def changed_images(images_folder, tmp_path_factory) -> Callable[..., Path]:
    """A folder with the store of images after some statements."""

    def change(*statements: str) -> Path:
        path = tmp_path_factory.mktemp("changed") / "tiny.duckdb"
        copyfile(images_folder / "tiny.duckdb", path)
        with duckdb.connect(str(path)) as store:
            for statement in statements:
                store.execute(statement)
        return path.parent

    return change


@pytest.fixture
def told_of_images(images_folder) -> Callable[..., list[tuple[Any, ...]]]:
    """What the file of images itself answers to a query."""

    def answer(query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(images_folder / "tiny.duckdb"), read_only=True) as store:
            return store.execute(query).fetchall()

    return answer


@pytest.fixture
def on_page():
    """Charts that are made by a test itself find the words of the page."""
    with words_of("relevance"):
        yield
