"""Attention of heads that goes elsewhere in another run."""

import numpy as np
from jaxtyping import Float


def attention_moved(
    before: Float[np.ndarray, "*head query key"],
    after: Float[np.ndarray, "*head other_query other_key"],
    same: list[tuple[int, int]],
) -> Float[np.ndarray, "*head"]:
    """Share of each head's attention that goes elsewhere, mean over the queries of both runs.

    It is half the sum of absolute differences, the total variation distance of both rows; what goes
    to tokens of one run alone counts as gone. NaN without a token of both.

    Args:
        same: positions of the tokens of both runs, before and after.
    """
    if not same:
        return np.full(before.shape[:-2], np.nan)
    at, to = (list(places) for places in zip(*same, strict=True))
    ours, theirs = before[..., at, :], after[..., to, :]
    change = np.abs(theirs[..., to] - ours[..., at]).sum(axis=-1)
    for rows, shared in ((ours, at), (theirs, to)):
        change = change + rows.sum(axis=-1) - rows[..., shared].sum(axis=-1)
    return change.mean(axis=-1) / 2
