"""Sections of the page on relevance, with what several of them draw.

`maps` draws maps over images and texts. A new section is a file here and a name in the page.
"""
