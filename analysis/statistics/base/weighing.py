"""Weighings of attention, by weights or by norms, and views of one of them."""

from analysis.statistics.base.columns import named
from analysis.statistics.base.tables import Part

WEIGHT, NORM, DIFFERENCE = "weight", "norm", "difference"
WEIGHINGS = (WEIGHT, NORM)
"""Weighing by attention weights α, or by ‖αf(x)‖ with every row scaled to a sum of 1."""
WEIGHING = named(
    "what attention is weighed by: weight (α), or norm (‖αf(x)‖, every row scaled to a sum of 1)",
    WEIGHINGS,
    name="weighing",
)


def of_weights(name: str, *leave_out: str, where: str = "", note: str | None = None) -> Part:
    """Return the view of a table restricted to weights, without that and some other columns."""
    by_weights = " and ".join(filter(None, (f"weighing = '{WEIGHT}'", where)))
    return Part(name, ("weighing", *leave_out), by_weights, note)
