"""Coverage of a pair's 95 % interval: python -m tests.tools.benchmarks.pair_intervals

Pairs have a true mean change of 0. They are spread evenly or unevenly over sequences, with changes
that are correlated within a sequence or not, normal or skewed. Student's interval with sequences as
units is printed for comparison.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from analysis.measures.pairs.mixing_change import mean_interval
from analysis.scopes import EFFECTS
from analysis.statistics.pairs import pair_delta
from analysis.statistics.rows import table_of
from precompute.jobs.shards import as_stored

PAIRS = 2000
SIZES = (
    [1] * 3, [1] * 5, [4] * 5, [3] * 10, [1] * 30, [20, 10, 7], [30, 5, 2, 1, 1],
    [20, 10, 7, 5, 4, 4, 3, 3, 3, 2], [100, *[1] * 30],
)  # fmt: skip
ALIKE = (0.0, 0.2, 0.5, 1.0)


def draws(kind: str, shape: tuple[int, int], generator: np.random.Generator) -> np.ndarray:
    """Numbers of mean 0 and variance 1."""
    if kind == "normal":
        return generator.normal(size=shape)
    skewed = generator.lognormal(size=shape)
    return (skewed - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)


def covered(kind: str, sizes: list[int], alike: float) -> tuple[float, float]:
    """The share of the pairs whose interval holds 0: ours, and Student's over sequences."""
    generator = np.random.default_rng(0)
    sequence = np.repeat(np.arange(len(sizes)), sizes)
    shared = draws(kind, (PAIRS, len(sizes)), generator)[:, sequence]
    alone = draws(kind, (PAIRS, len(sequence)), generator)
    delta = np.sqrt(alike) * shared + np.sqrt(1 - alike) * alone
    rows = stored(delta, sequence)
    low, high = intervals(rows)
    mean, std = (rows[name].to_numpy(float) for name in ("mean_ff", "std_ff"))
    reach = stdtrit(len(sizes) - 1, 0.975) * std / np.sqrt(len(sizes))
    return ((low <= 0) & (high >= 0)).mean(), (np.abs(mean) <= reach).mean()


def intervals(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the interval of every pair in one step of the layer."""
    return mean_interval(
        *(rows[name].to_numpy(float) for name in ("mean_ff", "error_ff", "degrees"))
    )


def stored(delta: np.ndarray, sequence: np.ndarray, relations: Any = 0) -> pd.DataFrame:
    """Rows that the store makes of the pairs.

    Args:
        delta: the change of every occurrence, a row per pair.
        sequence: sequence of each occurrence, sorted by sequence.
        relations: relation of each occurrence, as a place in RELATIONS.
    """
    n_pairs, n = delta.shape
    columns = dict.fromkeys(pair_delta.TABLE.shard_schema.names, np.zeros(n_pairs * n, dtype=int))
    columns |= dict.fromkeys(EFFECTS, delta.ravel())
    first = np.r_[True, np.diff(sequence) > 0]
    columns |= {
        "seq": np.tile(sequence, n_pairs),
        "source": np.repeat(np.arange(n_pairs), n),
        "is_first": np.tile(first, n_pairs),
        "relation": np.broadcast_to(relations, delta.shape).ravel(),
    }
    return as_stored(pair_delta.TABLE, table_of(pair_delta.TABLE, **columns)).to_pandas()


def main() -> None:
    """A line per way to draw and to spread; a column per correlation within a sequence."""
    print("ours / Student over sequences, by correlation within a sequence:", *ALIKE)
    for kind in ("normal", "lognormal"):
        for sizes in SIZES:
            shares = (covered(kind, sizes, alike) for alike in ALIKE)
            numbers = "  ".join(f"{ours:.3f} / {naive:.3f}" for ours, naive in shares)
            print(f"{kind:10} {numbers}  {sizes}")


if __name__ == "__main__":
    main()
