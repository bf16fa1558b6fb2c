"""A fair sample of (attention weight, norm) pairs that does not depend on how a corpus is cut."""

import numpy as np
from jaxtyping import Float, Int

SAMPLE_SIZE = 128


def sample_priorities(
    generator: np.random.Generator, shape: tuple[int, ...], n_pairs: Int[np.ndarray, "*strata"]
) -> Float[np.ndarray, "*strata value"]:
    """Arrival times of a Poisson process that visits every pair at the same rate.

    Merging the processes of several sequences and keeping the earliest `SAMPLE_SIZE` arrivals
    of each stratum gives a uniform draw with replacement over all their pairs, however they were
    batched: a sequence of m pairs arrives m times as fast.

    Args:
        shape: of the strata.
        n_pairs: pairs of this sequence in each stratum; 0 means that none ever arrives.

    Returns:
        `SAMPLE_SIZE` ascending times per stratum; infinite in strata without pairs.

    Source:
        kobayashi-2020, section 5.3, figure 3: a seeded sample per token type.

    Differs:
        The paper draws 1% of each type; here each head and type keep the same number of points.
    """
    waits = generator.exponential(size=(*shape, SAMPLE_SIZE)).cumsum(axis=-1)
    with np.errstate(divide="ignore"):
        return waits / n_pairs[..., None]


def earliest(priorities: Float[np.ndarray, "*strata row"]) -> Int[np.ndarray, "*strata value"]:
    """Places of the `SAMPLE_SIZE` smallest priorities of each stratum, in no particular order.

    Source:
        kobayashi-2020, section 5.3, figure 3.
    """
    return np.argpartition(priorities, SAMPLE_SIZE - 1, axis=-1)[..., :SAMPLE_SIZE]
