"""Families whose layers are read by names, since their attention goes by no interface."""
