"""Bootstrap intervals: whole units (sequences or documents) resampled with replacement."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

LEVEL = 0.95
RESAMPLES = 1000
LEAST_UNITS = 10


@dataclass(frozen=True)
class Redraws:
    """Resamples of some sequences: the count of each sequence in each resample.

    `units` numbers the resampled units: single sequences, or documents whose sequences are
    resampled together.
    """

    units: Int[np.ndarray, " sequence"]
    weights: Float[np.ndarray, "resample sequence"]

    def of(self, rows: Int[np.ndarray, " value"]) -> "Redraws":
        """Return the same resamples restricted to some of the sequences."""
        return Redraws(self.units[rows], self.weights[:, rows])

    def interval(
        self,
        resampled: Float[np.ndarray, "resample cell"],
        present: Bool[np.ndarray, "sequence cell"],
    ) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
        """Percentile interval of a number that was computed for every resample.

        Args:
            present: True where a sequence has a value in a cell.

        Returns:
            Lower and upper end of the central 95%; NaN where fewer than `LEAST_UNITS` units have
            the cell, since a percentile bootstrap of so few is too narrow.
        """
        names, of_unit = np.unique(self.units, return_inverse=True)
        if len(names) < LEAST_UNITS:
            low, high = np.full((2, present.shape[1]), np.nan)
            return low, high
        has_cell = np.zeros((len(names), present.shape[1]), dtype=bool)
        np.logical_or.at(has_cell, of_unit, present)
        few = has_cell.sum(axis=0) < LEAST_UNITS
        low, high = (np.where(few, np.nan, end) for end in percentile_interval(resampled))
        return low, high


def redraws(units: Int[np.ndarray, " sequence"], *, seed: int) -> Redraws:
    """A thousand resamples of all units, drawn with replacement; none of fewer than `LEAST_UNITS`.

    Tokens of one sequence are not independent, nor are windows of one document, so whole units are
    drawn. Numbers computed from the same resamples are compared on the same draws. Where no
    interval can follow, none of these numbers is computed.

    Source:
        efron-1979, section 2; the papers give no intervals.
    """
    of_unit = np.unique(units, return_inverse=True)[1]
    n = int(of_unit.max(initial=-1)) + 1
    even, size = np.full(max(n, 1), 1 / max(n, 1)), RESAMPLES if n >= LEAST_UNITS else 0
    draws = np.random.default_rng(seed).multinomial(n, even, size=size)
    return Redraws(units, draws[:, of_unit].astype(np.float64))


def means_of_sums(
    sums: Float[np.ndarray, "block cell"],
    counts: Float[np.ndarray, "block cell"],
    weights: Float[np.ndarray, "resample block"],
) -> Float[np.ndarray, "resample cell"]:
    """Σ sums / Σ counts, a block counting as often as it is drawn.

    Returns:
        NaN where nothing that is drawn counts.

    Source:
        efron-1979, section 2.
    """
    total, count = weights @ sums, weights @ counts
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def percentile_interval(
    resampled: Float[np.ndarray, "resample cell"],
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Lower and upper end of the central 95% of resampled numbers; NaN where none is a number.

    Source:
        efron-1979, section 2.
    """
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    is_none = np.isnan(resampled)
    ever = ~is_none.all(axis=0)
    always = ever & ~is_none.any(axis=0)
    ends = np.full((2, resampled.shape[1]), np.nan)
    if always.any():
        ends[:, always] = np.quantile(resampled[:, always], tails, axis=0)
    if (rest := ever & ~always).any():  # one column at a time, which takes far longer
        ends[:, rest] = np.nanquantile(resampled[:, rest], tails, axis=0)
    return ends[0], ends[1]


def median_with_interval(
    values: Float[np.ndarray, " value"], *, seed: int
) -> tuple[float, float, float]:
    """The median of independently resampled values, and its interval.

    Returns:
        NaN for no value, and for the interval of fewer than `LEAST_UNITS`.

    Source:
        efron-1979, section 2.
    """
    if not len(values):
        return np.nan, np.nan, np.nan
    drawn, ordered = redraws(np.arange(len(values)), seed=seed), np.sort(values)
    reached = drawn.weights.cumsum(axis=1)
    middles = [
        ordered[(reached <= place).sum(axis=1)]
        for place in ((len(values) - 1) // 2, len(values) // 2)
    ]
    every_value = np.ones((len(values), 1), dtype=bool)
    (low,), (high,) = drawn.interval(np.mean(middles, axis=0)[:, None], every_value)
    return float(np.median(values)), float(low), float(high)
