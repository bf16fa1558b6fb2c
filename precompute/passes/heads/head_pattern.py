"""Attention of each head by kind of token, and its entropy: means over sequences with intervals."""

from analysis.habits import QUANTITIES, TOKEN_TYPES
from analysis.statistics.heads.head_pattern import TABLE
from analysis.statistics.means import Means
from precompute.passes.base import mean_over_sequences

VERSION = 5
NEEDS = ("sequence_head_pattern",)
_COLUMNS = ", ".join(f'"{name}"' for name in QUANTITIES)
_AVERAGES = ", ".join(f'avg("{name}") as "{name}"' for name in QUANTITIES)
_OF_HEADS = f"""
    unpivot (
        select weighing::varchar as weighing, seq, layer, head, {_COLUMNS}
        from sequence_head_pattern_weighing
    )
    on {_COLUMNS} into name quantity value mean
"""
_OF_LAYERS = f"""
    unpivot (
        select weighing::varchar as weighing, seq, layer, {_AVERAGES}
        from sequence_head_pattern_weighing
        group by all
    )
    on {_COLUMNS} into name quantity value mean
"""
fit = mean_over_sequences(
    TABLE,
    Means(_OF_HEADS, ["weighing", "layer", "head", "quantity"], zero=TOKEN_TYPES),
    Means(_OF_LAYERS, ["weighing", "layer", "quantity"], zero=TOKEN_TYPES),
)
"""One row per weighing, layer, head (or their mean) and habit that some sequence has."""
