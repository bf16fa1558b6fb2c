"""Kinds of charts and the look that all of them share."""
