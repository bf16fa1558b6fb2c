"""The share of heads above each threshold, mean over sequences, with intervals."""

from analysis.sinks import RATE_ROUNDING, RATED, THRESHOLDS
from analysis.statistics.means import Means, layers_and_mean
from analysis.statistics.sinks.sink_rate import TABLE
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_sink",)
_THRESHOLDS = f"select unnest([{', '.join(map(str, THRESHOLDS))}])::double as threshold"
_SHARES = f"""
    select seq, place, quantity, threshold, avg((share > threshold + {RATE_ROUNDING})::int) as mean
    from (
        unpivot (
            select seq, place, columns([{", ".join(map(repr, RATED))}])::double
            from sequence_sink where $layer is null or layer = $layer
        )
        on {", ".join(RATED)} into name quantity value share
    ), ({_THRESHOLDS})
    group by all
"""
fit = mean_over_sequences(
    TABLE,
    Means(_SHARES, ["place", "quantity", "threshold"], per=layers_and_mean("sequence_sink")),
)
"""One row per place, layer (or all), quantity and threshold."""
