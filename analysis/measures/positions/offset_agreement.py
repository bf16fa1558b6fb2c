"""Preferred offset of a head, and its agreement between scores and attention."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.correlation_parts import Part, correlation_parts, moments, single_units

Offsets = Int[np.ndarray, " row"]


class Estimate(NamedTuple):
    """A number and the ends of its interval; NaN where there is none."""

    value: float
    low: float
    high: float


def agreement(scores: Offsets, attention: Offsets, *, seed: int) -> Estimate:
    """Share of the heads with equal offsets on both sides; the interval resamples heads.

    Source:
        yamamoto-2023, section 3.5, whose claim it is; efron-1979, section 2.

    Differs:
        The paper shows three heads; the number over all heads is ours.
    """
    same = (scores == attention).astype(np.float64)
    drawn = _redrawn_heads(len(same), seed=seed)
    return _estimate(same.mean(), drawn.weights @ same / len(same), drawn)


def rank_correlation(scores: Offsets, attention: Offsets, *, seed: int) -> Estimate:
    """Spearman's ρ of the two offsets over heads, with mid-ranks.

    Returns:
        NaN if either offset is constant; the interval leaves out resamples with a constant offset.

    Source:
        yamamoto-2023, section 3.5, whose claim it is; efron-1979, section 2.
    """
    (value,) = _weighted_spearman(scores, attention, np.ones((1, len(scores))))
    drawn = _redrawn_heads(len(scores), seed=seed)
    return _estimate(value, _weighted_spearman(scores, attention, drawn.weights), drawn)


def layer_parts(
    scores: Offsets, attention: Offsets, layers: Int[np.ndarray, " row"], *, seed: int
) -> tuple[Part, ...]:
    """Split ρ within layers and between them; intervals redraw layers.

    Args:
        layers: of the heads; either offset differs between some of them.

    Source:
        robinson-1950, section on the relation of ecological and individual correlations.
    """
    _, layer = np.unique(layers, return_inverse=True)
    units = single_units(int(layer.max()) + 1, seed=seed)
    once = np.ones((1, len(layer)))
    ranks = [_weighted_midranks(offsets, once)[0] + 0.5 for offsets in (scores, attention)]
    return correlation_parts(moments(ranks, np.ones(len(layer)), layer), redrawn=(units, units))


def chance_agreement(scores: Offsets, attention: Offsets) -> float:
    """Agreement expected by chance, with each side's offsets dealt to the heads at random.

    Σ_t p_scores(t) · p_attention(t).

    Source:
        yamamoto-2023, section 3.5, whose claim it is measured against.
    """
    return float((scores[:, None] == attention[None, :]).mean())


def _redrawn_heads(n_heads: int, *, seed: int) -> Redraws:
    return redraws(np.arange(n_heads), seed=seed)


def _estimate(value: float, resampled: Float[np.ndarray, " resample"], drawn: Redraws) -> Estimate:
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan)
    every_head = np.ones((len(drawn.units), 1), dtype=bool)
    (low,), (high,) = drawn.interval(resampled[:, None], every_head)
    return Estimate(float(value), float(low), float(high))


def _weighted_spearman(
    first: Offsets, second: Offsets, weights: Float[np.ndarray, "resample row"]
) -> Float[np.ndarray, " resample"]:
    """Spearman's ρ of rows, weighted by the number of their copies."""
    ranks = np.stack([_weighted_midranks(values, weights) for values in (first, second)])
    centred = ranks - (ranks * weights).sum(axis=-1, keepdims=True) / weights.sum(axis=-1)[:, None]
    squares = (centred**2 * weights).sum(axis=-1)
    products = (centred[0] * centred[1] * weights).sum(axis=-1)
    varies = (squares > 1e-9).all(axis=0)
    scale = np.sqrt(squares.prod(axis=0))
    return np.divide(products, scale, out=np.full(len(weights), np.nan), where=varies).clip(-1, 1)


def _weighted_midranks(
    values: Offsets, weights: Float[np.ndarray, "resample row"]
) -> Float[np.ndarray, "resample row"]:
    """Mid-rank of every row among weighted copies of all rows."""
    levels, level = np.unique(values, return_inverse=True)
    counts = weights @ (level[:, None] == np.arange(len(levels))).astype(np.float64)
    return (counts.cumsum(axis=1) - counts / 2)[:, level]


def preferred_offsets(
    values: Float[np.ndarray, "row offset"], offsets: Int[np.ndarray, " offset"]
) -> Int[np.ndarray, " row"]:
    """The offset with the largest value; of equal ones the nearest, of two as near the left.

    Source:
        yamamoto-2023, section 3.5.
    """
    nearest_first = np.lexsort((offsets, np.abs(offsets)))
    return offsets[nearest_first][values[:, nearest_first].argmax(axis=1)]
