"""Tests of the readers of corpora, and of what becomes of their entries."""
