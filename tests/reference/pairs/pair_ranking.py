"""The order of a list of pairs, one pair at a time."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from scipy.stats import t

from analysis.measures.pairs.pair_delta import LEAST_DEGREES


def nearer_bound(mean: float, error: float, degrees: float) -> float | None:
    """Distance of the interval from 0; None if it holds 0 or does not exist."""
    if math.isnan(degrees) or degrees < LEAST_DEGREES:
        return None
    reach = _quantile(degrees) * error
    low, high = mean - reach, mean + reach
    if low > 0:
        return low
    return -high if high < 0 else None


@cache
def _quantile(degrees: float) -> float:
    return float(t.ppf(0.975, degrees))


def place_in_list(pair: Mapping[Any, Any], order: str, rank: str) -> tuple[Any, ...]:
    """Sort key of a pair in a layer's list, the smallest first."""
    ids = (pair["source_id"], pair["target_id"])
    if order == "frequent":
        return (-pair["n"], *ids)
    size = abs(pair["mean_delta"])
    if rank == "mean":
        return (-size, *ids)
    bound = nearer_bound(pair["mean_delta"], pair["standard_error"], pair["degrees"])
    return (1, -size, *ids) if bound is None else (0, -bound, -size, *ids)
