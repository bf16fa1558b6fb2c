"""Rank correlation between rollout by products of maps and by vectors."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Setting
from analysis.statistics.columns import number, single
from analysis.statistics.means import Means, layers_and_mean, mean_of
from analysis.statistics.mixing.rollout import ROLLOUT
from analysis.statistics.question import frame_of
from analysis.statistics.table import (
    LAYER,
    LAYER_OR_MEAN,
    N_SEQUENCES,
    SEQUENCE,
    Table,
    interval,
)

PER_SEQUENCE = Table(
    name="sequence_vector_agreement",
    grain="one row per followed sequence, layer and scope",
    key=(SEQUENCE, LAYER, ROLLOUT),
    values=(
        single(
            "spearman",
            "Spearman's ρ of shares by vectors and by the scope's multiplied maps, every pair of "
            "tokens counting once",
            "ρ",
        ),
    ),
    source="modarressi-2023",
    requires=("vector_completeness", "layer_completeness"),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6",),
    depends_on=(Setting.GATE_RULE,),
)
_SEQUENCES = """
    select seq, scope, avg(spearman::double) as spearman
    from sequence_vector_agreement
    where $layer is null or layer = $layer
    group by seq, scope
"""
TABLE = Table(
    name="vector_agreement",
    grain="one row per layer, or for their mean, and scope, of the followed sequences",
    key=(LAYER_OR_MEAN, ROLLOUT),
    values=(
        number(
            "spearman",
            "mean over sequences of Spearman's ρ of shares by vectors and by the scope's "
            "multiplied maps",
            "ρ",
        ),
        *interval("ρ"),
        N_SEQUENCES,
    ),
    source="modarressi-2023",
    requires=("sequence_vector_agreement",),
    made_by=mean_of(
        Means(_SEQUENCES, ["scope"], "spearman", per=layers_and_mean("sequence_vector_agreement"))
    ),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "low <= high", "n_sequences > 0"),
    depends_on=(),
)


def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every scope in every layer, the mean over the layers (NULL) last: layer, scope, spearman,
    low, high, n_sequences."""
    return frame_of(store, "from vector_agreement order by layer nulls last, scope")
