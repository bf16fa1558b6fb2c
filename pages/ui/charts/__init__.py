"""Kinds of charts, and their common look."""
