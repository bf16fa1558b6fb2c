"""Distances between heads as text, and the head farthest from all others."""

from analysis.statistics.heads import head_distance
from pages.ui.head.choice import Head
from pages.ui.store.inquiry import Inquiry

DISTANCE = "mean_divergence"
LEVEL = 0.05
"""Significance level of p-values."""


def most_unlike(inquiry: Inquiry) -> Head:
    """Head with the largest mean distance from all others: the default of the picker."""
    means = inquiry.ask(head_distance.distances).groupby(["layer_a", "head_a"])[DISTANCE].mean()
    layer, head = means.idxmax()
    return int(layer), int(head)


def nats(distance: float) -> str:
    """Format a distance with two decimals; with three if two would show 0."""
    return f"{distance:.2f}" if distance >= 0.01 else f"{distance:.3f}"


def chance(p_value: float) -> str:
    """Format a p-value with two significant figures, without a power of ten."""
    return f"{p_value:.4f}" if p_value < 0.01 else f"{p_value:.2f}"
