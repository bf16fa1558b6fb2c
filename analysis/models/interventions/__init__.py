"""Runs of a model in which something is made otherwise than it would be."""
