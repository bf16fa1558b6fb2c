"""How far heads are apart, in words, and which of them stands out."""

from analysis.tables.heads import head_distance
from pages.ui.head.choice import Head
from pages.ui.store.chosen import ask

DISTANCE = "mean_divergence"
LEVEL = 0.05
"""Below which p-value a difference is more than chance."""


def most_unlike() -> Head:
    """The head that is farthest from all others on average: the one that stands out."""
    means = ask(head_distance.distances).groupby(["layer_a", "head_a"])[DISTANCE].mean()
    layer, head = means.idxmax()
    return int(layer), int(head)


def nats(distance: float) -> str:
    """Two digits, and three where two would be nothing."""
    return f"{distance:.2f}" if distance >= 0.01 else f"{distance:.3f}"


def chance(p_value: float) -> str:
    """Two figures, without a power of ten."""
    return f"{p_value:.4f}" if p_value < 0.01 else f"{p_value:.2f}"
