"""Rank correlation over heads of a measure with the effect of heads, within layers and between."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.bootstrap import LEAST_UNITS, RESAMPLES, percentile_interval


@dataclass(frozen=True)
class Draws:
    """A thousand draws of heads within each layer, and of layers, by their places.

    `heads` and `layers` are drawn with replacement, `other_heads` and `other_layers` in a random
    order: those of another head of the layer, or of another layer.
    """

    heads: Int[np.ndarray, "resample unit value"]
    layers: Int[np.ndarray, "resample unit"]
    other_heads: Int[np.ndarray, "resample unit value"]
    other_layers: Int[np.ndarray, "resample unit"]

    @classmethod
    def of(cls, shape: tuple[int, int], *, seed: int) -> "Draws":
        draw, (n_layers, n_heads) = np.random.default_rng(seed), shape
        return cls(
            draw.integers(n_heads, size=(RESAMPLES, *shape)),
            draw.integers(n_layers, size=(RESAMPLES, n_layers)),
            draw.permuted(np.broadcast_to(np.arange(n_heads), (RESAMPLES, *shape)), axis=-1),
            draw.permuted(np.broadcast_to(np.arange(n_layers), (RESAMPLES, n_layers)), axis=-1),
        )


@dataclass(frozen=True)
class OfHeads:
    """A number of every head, by layer, with its ranks as they are and in every draw."""

    values: Float[np.ndarray, "unit value"]
    draws: Draws

    @cached_property
    def ranks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Standardised ranks: of heads in their layer, of layers by their means, of all heads."""
        return _ranks(self.values[None], self.values.mean(axis=1)[None])

    @cached_property
    def redrawn(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same in every draw with replacement."""
        return self._in(self.draws.heads, self.draws.layers)

    @cached_property
    def of_others(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same with other heads of the layer, and other layers, in place of each."""
        return self._in(self.draws.other_heads, self.draws.other_layers)

    def _in(
        self, heads: np.ndarray, layers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        drawn = np.take_along_axis(self.values[None], heads, axis=2)
        return _ranks(drawn, self.values.mean(axis=1)[layers])


@dataclass(frozen=True)
class RankCorrelations:
    """ρ of two numbers of heads with its interval: in each layer, then within, between, all.

    Intervals are NaN with fewer than `LEAST_UNITS` heads or layers that are ranked.
    """

    spearman: Float[np.ndarray, " cell"]
    low: Float[np.ndarray, " cell"]
    high: Float[np.ndarray, " cell"]


def rank_correlations(measure: OfHeads, effect: OfHeads) -> RankCorrelations:
    """Spearman's ρ over heads, and its percentile interval over heads drawn within their layers.

    Within layers it is the mean of each layer's own ρ; between layers it ranks layers by the means
    of their heads, and layers are drawn.

    Source:
        efron-1979, section 2: the interval; croux-2010, section 2: ρ with mid-ranks.
    """
    found = _correlations(measure.ranks, effect.ranks)[0]
    low, high = percentile_interval(_correlations(measure.redrawn, effect.redrawn))
    few = _units(*measure.values.shape) < LEAST_UNITS
    return RankCorrelations(found, *(np.where(few, np.nan, end) for end in (low, high)))


def chance(effect: OfHeads) -> RankCorrelations:
    """ρ of each head's effect with that of a random head of its layer, or of a random layer.

    Returns:
        The mean over a thousand random orders, and the range of the central 95% of them.

    Source:
        efron-1979, section 2: the range; a head of the same layer keeps what layers have in common.
    """
    orders = _correlations(effect.ranks, effect.of_others)
    return RankCorrelations(orders.mean(axis=0), *percentile_interval(orders))


def _units(n_layers: int, n_heads: int) -> Int[np.ndarray, " cell"]:
    return np.array([n_heads] * n_layers + [n_layers * n_heads, n_layers, n_layers * n_heads])


def _ranks(
    heads: Float[np.ndarray, "resample unit value"], layers: Float[np.ndarray, "resample unit"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _standardised(heads), _standardised(layers), _standardised(heads.reshape(len(heads), -1))


def _standardised(values: np.ndarray) -> np.ndarray:
    """Return mid-ranks with mean 0 and mean square 1; NaN where all values are equal."""
    from scipy.stats import rankdata  # here: it takes a second, which pages need not wait for

    ranks = rankdata(values, axis=-1)
    ranks -= ranks.mean(axis=-1, keepdims=True)
    spread = np.sqrt((ranks**2).mean(axis=-1, keepdims=True))
    return np.divide(ranks, spread, out=np.full_like(ranks, np.nan), where=spread > 0)


def _correlations(
    first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]
) -> Float[np.ndarray, "resample cell"]:
    of_layers, between, all_heads = (
        (one * other).mean(axis=-1) for one, other in zip(first, second, strict=True)
    )
    return np.column_stack([of_layers, of_layers.mean(axis=1), between, all_heads])
