"""Relations of two tokens by position, word and segment, and the change of mixing by relation."""

import numpy as np
from jaxtyping import Bool, Float, Int, Int8, UInt8

from analysis.measures.bootstrap import Redraws
from analysis.measures.pairs.mixing_change import row_shares
from analysis.scopes import RELATIONS, LayerOrder


def token_relations(
    ids: Int[np.ndarray, " token"],
    words: Int[np.ndarray, " token"],
    segments: UInt8[np.ndarray, " token"],
) -> Int8[np.ndarray, "query key"]:
    """Index in `RELATIONS` of every two tokens: the first that fits, so that shares add up to 1.

    special: one of them is a special token; same_word: the same token at two places; word_pieces:
    pieces of one word; adjacent: side by side; then same or other segment.

    Args:
        words: numbers of the words that tokens are pieces of; negative where there is none.

    Source:
        kobayashi-2024, section 5.2, which distinguishes these kinds by eye.
    """
    real = words >= 0
    place = np.arange(len(ids))
    fits = {
        "special": ~(real[:, None] & real),
        "same_word": ids[:, None] == ids,
        "word_pieces": words[:, None] == words,
        "adjacent": np.abs(place[:, None] - place) == 1,
        "same_segment": segments[:, None] == segments,
        "other_segment": np.ones((len(ids), len(ids)), dtype=bool),
    }
    return np.argmax([fits[name] for name in RELATIONS], axis=0).astype(np.int8)


def relation_changes(
    maps: Float[np.ndarray, "scope query key"],
    order: LayerOrder,
    relations: Int8[np.ndarray, "query key"],
    pairs: Bool[np.ndarray, "query key"],
) -> tuple[Int[np.ndarray, " relation"], Float[np.ndarray, "value effect relation"]]:
    """Number of pairs of each relation, and over them Σ share before, Σ |δ| and Σ max(δ, 0).

    δ is by how much an effect of the layer changes a key's share of its query's row. No token is a
    pair with itself.

    Args:
        maps: norms of all pairs at each scope of the order.
        relations: indices in `RELATIONS`.
        pairs: True where a query sees a key.

    Returns:
        A count; sums of shares of a row: over all pairs of a sequence at most n before the step,
        and at most 2 n of change.

    Source:
        kobayashi-2024, section 5.2, which distinguishes these kinds by eye.
    """
    two_positions = pairs & ~np.eye(len(relations), dtype=bool)
    of_pair = relations[two_positions]
    of_scope = dict(zip(order.scopes, maps, strict=True))

    def summed(values: np.ndarray) -> np.ndarray:
        sums = np.bincount(of_pair, values, len(RELATIONS))
        return sums.astype(np.float64)  # bincount of nothing counts in integers

    sums = []
    for before, after in order.effects.values():
        held = row_shares(of_scope[before])[two_positions]
        change = row_shares(of_scope[after])[two_positions] - held
        sums.append([summed(held), summed(np.abs(change)), summed(change.clip(min=0))])
    return np.bincount(of_pair, minlength=len(RELATIONS)), np.array(sums).transpose(1, 0, 2)


def mean_ratios(
    shares: Float[np.ndarray, "sequence cell"],
    before: Float[np.ndarray, "sequence cell"],
    drawn: Redraws,
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Mean share over mean share before, both of the same sequences, with its interval.

    A resampled sequence brings both of its shares, so the interval is that of the comparison: it
    holds 1 if and only if that of the difference of the two means holds 0.

    Args:
        shares: a relation's share of a sequence's total; NaN where there is nothing to share.
        before: its share of the sequence's mixing before the step; NaN alike.

    Returns:
        Ratios, NaN where the relation holds nothing before; lower and upper end of their central
        95%, NaN where too few units have both.

    Source:
        efron-1979, section 2; kobayashi-2024, section 5.2, has no baseline.
    """
    both = ~np.isnan(shares) & ~np.isnan(before)
    above, below = (np.where(both, values, 0.0) for values in (shares, before))
    low, high = drawn.interval(_ratio(drawn.weights @ above, drawn.weights @ below), both)
    every = np.ones((1, len(shares)))
    return _ratio(every @ above, every @ below)[0], low, high


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
