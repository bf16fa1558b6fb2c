"""Agreement of two attribution rules for gated networks."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER_OR_MEAN, N_SEQUENCES, Table, interval

TABLE = Table(
    name="gate_rule_agreement",
    grain="one row per layer, or for their mean; none if networks have no gates",
    key=(LAYER_OR_MEAN,),
    values=(
        number(
            "spearman",
            "mean over sequences of Spearman's ρ of the maps after the network by Integrated "
            "Gradients and by halves",
            "ρ",
        ),
        *interval("ρ", of="spearman"),
        number("closed", "mean over sequences of the share of gates that are closed"),
        *interval("share", of="closed"),
        N_SEQUENCES,
    ),
    source="achtibat-2024",
    needs=(Need.GATES,),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "closed between 0 and 1"),
    depends_on=(),
)


@asks("from gate_rule_agreement order by layer nulls first")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """The mean over the layers (layer is NULL), then every layer."""
    ...
