"""Sections opened on documents with coreference."""

from tests.pages.kit.folders import folder_of

store_folder = folder_of(annotated=True)
