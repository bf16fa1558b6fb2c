"""Relevance maps, from the file or just computed, and their charts over images and texts."""
