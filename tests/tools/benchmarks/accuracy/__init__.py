"""Errors of stored numbers, and coverage of intervals."""
