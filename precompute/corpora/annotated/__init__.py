"""Treebanks and coreference corpora: words with annotations, one format each."""
