"""Settings of facts on the best head of a question."""

MERGING = "mean"
HALF = "first"
"""Part of the texts on which the best head is chosen; it is scored on the other."""
MIN_WORDS = 30
"""Least number of words of a relation for a fact on one head."""
