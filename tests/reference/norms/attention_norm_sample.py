"""Choosing among pairs by one random number each, which the sample must be as fair as."""

import random


def sample_by_priority(n_pairs: int, size: int, seed: int) -> list[int]:
    """The `size` pairs of smallest random priority, all of them drawn."""
    generator = random.Random(seed)
    priorities = [(generator.random(), pair) for pair in range(n_pairs)]
    return [pair for _, pair in sorted(priorities)[:size]]
