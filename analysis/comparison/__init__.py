"""Comparison of several files: which may be compared, their numbers, and differences."""
