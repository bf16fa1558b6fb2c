"""Mean agreement of multiplied maps with vectors, per layer and over the layers."""

from analysis.statistics.means import Means, layers_and_mean
from analysis.statistics.mixing.vector_agreement import TABLE
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_vector_agreement",)
_SEQUENCES = """
    select seq, scope, avg(spearman::double) as spearman
    from sequence_vector_agreement
    where $layer is null or layer = $layer
    group by seq, scope
"""
fit = mean_over_sequences(
    TABLE,
    Means(_SEQUENCES, ["scope"], "spearman", per=layers_and_mean("sequence_vector_agreement")),
)
"""One row per scope, for every layer and for every sequence's mean of them."""
