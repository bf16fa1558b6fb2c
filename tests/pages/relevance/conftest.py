"""Copies of files of images after some statements, and their numbers."""

import pytest

from pages.words.scope import words_of
from tests.pages.kit.copies import answers_of, changes_of

changed_images = changes_of("images_folder")
image_answers = answers_of("images_folder")


@pytest.fixture
def on_page():
    """Charts that are made by a test itself find the words of the page."""
    with words_of("relevance"):
        yield
