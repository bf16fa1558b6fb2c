"""Corpora and weights into the store: the only part that reads files and runs models."""

__version__ = "0.1.0"
SHARDS = ".shards"
"""Folder beside a file that keeps all that runs have finished."""
