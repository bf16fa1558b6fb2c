"""Comparison of any figure with itself for another layer, head, file or other choice."""
