"""Which statistics no file of images can hold, since they are of words, and why."""

from collections.abc import Sequence

_REASONS = {
    "bias_reading": "pairs",
    "sequence_bias_reading": "pairs",
    "frequency_correlation": "frequency",
    "ratio_frequency_correlation": "frequency",
    "token_mixing_ratio": "frequency",
    "pair": "pairs",
    "relation_share": "relations",
    "sequence_relation_change": "relations",
}
"""The start of a statistic's name, and what an image lacks for it."""


def what_images_lack(statistics: Sequence[str]) -> str | None:
    """What an image lacks for any of the statistics, as the catalogue calls it; None if nothing."""
    starts = (start for start in _REASONS if any(each.startswith(start) for each in statistics))
    return next((_REASONS[start] for start in starts), None)
