"""Sections opened on sentences with trees."""

from tests.pages.kit.folders import folder_of

store_folder = folder_of(annotated=True)
