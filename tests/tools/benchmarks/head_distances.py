"""Time to compare every two heads, relative to a double loop over heads.

    python -m tests.tools.benchmarks.head_distances [--rounds 3]

For 144 heads and one sequence of 128 tokens it prints the seconds of our method, and the ratio of
the time of a double loop that compares all rows of two heads at a time, as the released code of
Clark et al. does: in the half precision that it stores attention in, and in single precision. Every
round measures all of them in turn, so that a busy machine slows all; on a busy machine, compare
processor times.
"""

import argparse
from functools import partial

import numpy as np
import torch

from analysis.measures.heads.head_distances import SMOOTHING, head_distances
from tests.tools.benchmarks.cost import timed

HEADS, TOKENS = 144, 128
LIMIT = 0.3


def attention() -> torch.Tensor:
    """Rows as varied as those of a trained model: from uniform to nearly one-hot."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(HEADS, TOKENS, TOKENS, generator=generator)
    return (scores * torch.linspace(0.2, 4, HEADS)[:, None, None]).softmax(dim=-1)


def double_loop(weights: np.ndarray) -> np.ndarray:
    """The same distances, two heads at a time."""
    smoothed = (1 - SMOOTHING) * weights + SMOOTHING / weights.shape[-1]
    distances = np.zeros((len(weights), len(weights)))
    for one in range(len(weights)):
        for other in range(len(weights)):
            mean = (smoothed[one] + smoothed[other]) / 2
            first = -smoothed[one] * np.log(mean / smoothed[one])
            second = -smoothed[other] * np.log(mean / smoothed[other])
            distances[one, other] = 0.5 * (first.sum() + second.sum())
    return distances


def measure(rounds: int) -> None:
    weights = attention()
    seen = torch.ones(TOKENS, TOKENS, dtype=torch.bool)
    exact = double_loop(weights.double().numpy())
    worst = np.abs(head_distances(weights, seen) - exact).max()
    print(
        f"largest difference from the double loop in float64: {worst:.1e} of {exact.max():.0f} nats"
    )
    took, times = [], {np.float16: [], np.float32: []}
    for _ in range(rounds):
        ours = min((timed(lambda: head_distances(weights, seen)) for _ in range(5)), key=sum)
        took.append(ours)
        parts = []
        for kind, ratios in times.items():
            stored = weights.numpy().astype(kind)
            loop = timed(partial(double_loop, stored))
            ratios.append(loop / ours)
            parts.append(f"double loop in {kind.__name__} {loop[0]:.1f} s ({loop[1]:.1f})")
        print(
            f"ours {ours[0]:.3f} s (of processor time {ours[1]:.3f}); {'; '.join(parts)}",
            flush=True,
        )
    wall, processor = np.median(took, axis=0)
    print(
        f"median {wall:.3f} s per sequence, of processor time {processor:.3f} "
        f"(to stay under {LIMIT:g})"
    )
    for kind, ratios in times.items():
        ratio, of_processor = np.median(ratios, axis=0)
        print(f"{kind.__name__}: {ratio:.0f} times as long (of processor time {of_processor:.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    measure(asked.rounds)


if __name__ == "__main__":
    main()
