"""Attention weights and the norms of what they bring: its sections."""
