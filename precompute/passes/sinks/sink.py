"""Means over sequences of where attention rests, with intervals."""

from analysis.sinks import WEIGHTS
from analysis.statistics.means import Means
from analysis.statistics.sinks.sink import TABLE
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_sink",)
_LAYERS = "select distinct layer from sequence_sink order by layer"
_OF_HEADS = f"""
    unpivot (
        select seq, head, place, columns([{", ".join(map(repr, WEIGHTS))}])::double
        from sequence_sink where layer = $layer
    )
    on {", ".join(WEIGHTS)} into name quantity value mean
"""
_OF_LAYERS = f"select seq, place, quantity, avg(mean) as mean from ({_OF_HEADS}) group by all"
fit = mean_over_sequences(
    TABLE,
    Means(_OF_HEADS, ["head", "place", "quantity"], per=_LAYERS),
    Means(_OF_LAYERS, ["place", "quantity"], per=_LAYERS),
)
"""One row per layer, head (or their mean), place and quantity that some sequence has."""
