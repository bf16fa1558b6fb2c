"""Modules shared by all pages: words, the open file, pickers, charts and export."""
