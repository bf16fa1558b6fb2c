"""Treebanks and coreference: what is annotated of words, one format each."""
