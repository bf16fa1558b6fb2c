"""Columns and means that tables of sinks share."""

from collections.abc import Sequence

from analysis.sinks import EVERY, FIRST, FIRST_CONTENT
from analysis.statistics.columns import named, small
from analysis.statistics.fit import Fit
from analysis.statistics.means import Means, mean_of
from analysis.statistics.question import quoted

_MEANING = (
    f"{FIRST} (the first token), {FIRST_CONTENT} (the first that is no special token), or a type "
    "of token; one token may be of several places"
)
PLACE = named("place", _MEANING)
PLACE_OR_ALL = named("place", f"{EVERY} (every token), {_MEANING}")
DEPTH = small("depth", "layers gone through: 0 is what the first layer reads", "layers")


def of_heads_and_layers(table: str, quantities: Sequence[str]) -> Fit:
    """Return the fit of means over sequences by head, and over the mean of a layer's heads."""
    of_heads = f"""
        unpivot (
            select seq, head, place, columns([{quoted(*quantities)}])::double
            from {table} where layer = $layer
        )
        on {", ".join(quantities)} into name quantity value mean
    """
    of_layers = f"select seq, place, quantity, avg(mean) as mean from ({of_heads}) group by all"
    layers = f"select distinct layer from {table} order by layer"
    return mean_of(
        Means(of_heads, ["head", "place", "quantity"], per=layers),
        Means(of_layers, ["place", "quantity"], per=layers),
    )
