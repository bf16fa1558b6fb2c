"""The page opened on an image, and copies of files of images after some statements."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.words.scope import words_of
from tests.pages.kit.copies import answers_of, changes_of

changed_images = changes_of("images_folder")
image_answers = answers_of("images_folder")


@pytest.fixture
def over_image(section, images_folder) -> Callable[..., AppTest]:
    """Opens the section on one image, of the store of images unless another folder is given."""

    def open_section(folder: Path | None = None, **address: str) -> AppTest:
        return section("map", folder or images_folder, **address)

    return open_section


@pytest.fixture
def on_page():
    """Charts that are made by a test itself find the words of the page."""
    with words_of("relevance"):
        yield
