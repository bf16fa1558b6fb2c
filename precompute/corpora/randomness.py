"""Random draws that depend on the seed, their purpose and the sequence, and on nothing else."""

from typing import Literal, get_args

import numpy as np

from analysis.errors import UserError

Purpose = Literal["packing", "masking", "positions", "perturbation"]
PURPOSES = get_args(Purpose)


def generator(seed: int, *, purpose: Purpose, index: int) -> np.random.Generator:
    """The generator for one sequence; no two purposes or indices share a stream."""
    if seed < 0:
        raise UserError(f"--seed is {seed}; it must be 0 or more.")
    beside = (PURPOSES.index(purpose), index)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=beside))
