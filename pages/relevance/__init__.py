"""Relevance of the tokens of an input, carried back from a layer."""
