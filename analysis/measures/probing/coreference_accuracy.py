"""Correctness of picked antecedents."""

import numpy as np
from jaxtyping import Bool, Int

Places = Int[np.ndarray, " mention"]


def has_antecedent(heads: Places, clusters: Places) -> Bool[np.ndarray, " mention"]:
    """True for mentions with an antecedent: an earlier mention of the same cluster.

    Args:
        heads: the head word of every mention; a mention is earlier if its head word precedes.
        clusters: the cluster of every mention.

    Source:
        clark-2019, section 4.3.
    """
    return np.asarray(_antecedents(heads, clusters).any(axis=1))


def is_right(
    picked: Int[np.ndarray, "head mention"], heads: Places, clusters: Places
) -> Bool[np.ndarray, "head mention"]:
    """True where the picked word is the head word of an earlier mention of the same cluster.

    Args:
        picked: places of words, -1 for none, which is wrong.

    Source:
        clark-2019, section 4.3.
    """
    is_head = picked[:, :, None] == heads[None, None, :]
    return (is_head & _antecedents(heads, clusters)).any(axis=-1)


def _antecedents(heads: Places, clusters: Places) -> Bool[np.ndarray, "mention mention"]:
    is_earlier = heads[None, :] < heads[:, None]
    return is_earlier & (clusters[None, :] == clusters[:, None])
