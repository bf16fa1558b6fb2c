"""Largest tolerated gap between the sum of parts and the model's own output, by number format."""

LIMITS = {"float32": 1e-3, "bfloat16": 5e-2}
"""Largest relative error of a run that is published."""
