"""Sections of the page on attention sinks; each is drawn by its `show`."""
