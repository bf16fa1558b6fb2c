"""Slow twins: each measure again, written from its paper in loops, on plain Python numbers."""
