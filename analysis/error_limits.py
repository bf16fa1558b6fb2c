"""How far from the model's own output the sum of the parts may be in each number format."""

LIMITS = {"float32": 1e-3, "bfloat16": 5e-2}
"""Largest relative error of a run that is published."""
