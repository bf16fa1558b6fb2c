"""Layers that turn queries and keys: tiny ones made to, and modules of the library."""
