"""Sections of the page on attention weights and norms."""
