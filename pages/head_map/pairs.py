"""Pairs of heads: the nearest and the farthest of all."""

from typing import NamedTuple

import pandas as pd

from analysis.tables.heads import head_distance
from pages.ui.store.chosen import ask


class Apart(NamedTuple):
    """Two heads, each a layer and a head, and how far they are apart, in nats per row."""

    one: tuple[int, int]
    other: tuple[int, int]
    distance: float


def nearest(weighing: str) -> Apart:
    """The two heads that attend most alike."""
    return _told(_pairs(weighing).nsmallest(1, "mean_divergence"))


def farthest(weighing: str) -> Apart:
    """The two heads that attend least alike."""
    return _told(_pairs(weighing).nlargest(1, "mean_divergence"))


def _pairs(weighing: str) -> pd.DataFrame:
    """Every two heads once."""
    frame = ask(head_distance.distances, weighing=weighing)
    one, other = (frame[[f"layer_{side}", f"head_{side}"]].to_numpy() for side in "ab")
    earlier = (one[:, 0] < other[:, 0]) | ((one[:, 0] == other[:, 0]) & (one[:, 1] < other[:, 1]))
    return frame[earlier]


def _told(rows: pd.DataFrame) -> Apart:
    row = rows.iloc[0]
    return Apart(
        (int(row["layer_a"]), int(row["head_a"])),
        (int(row["layer_b"]), int(row["head_b"])),
        float(row["mean_divergence"]),
    )


def told_nats(distance: float) -> str:
    """Two digits, and three where two would be nothing."""
    return f"{distance:.2f}" if distance >= 0.01 else f"{distance:.3f}"
