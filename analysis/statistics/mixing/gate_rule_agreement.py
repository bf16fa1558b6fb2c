"""Agreement of two attribution rules for gated networks, and share of closed gates."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.columns import number, single
from analysis.statistics.fit import FitContext
from analysis.statistics.means import means
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import LAYER, LAYER_OR_MEAN, N_SEQUENCES, SEQUENCE, Table, interval

PER_SEQUENCE = Table(
    name="sequence_gate_rule",
    grain="one row per compared sequence and layer; none if networks have no gates",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "spearman",
            "Spearman's ρ of the maps after the network by Integrated Gradients and by halves; "
            "NULL where there is nothing to rank",
            "ρ",
            nullable=True,
        ),
        single("closed", "share of the gates that let less than a tenth through, over all tokens"),
    ),
    source="achtibat-2024",
    needs=(Need.GATES,),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "closed between 0 and 1"),
    depends_on=(Setting.CHECKED,),
)
_SEQUENCES = """
    select seq, true as every, avg({quantity}::double) as mean
    from sequence_gate_rule
    where ($layer is null or layer = $layer) and spearman is not null
    group by seq
"""


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row for every layer and one for their mean."""
    rows = store.execute(
        "select distinct layer from sequence_gate_rule where spearman is not null order by 1"
    ).fetchall()
    layers = [layer for (layer,) in rows]
    return rows_of(table, [_means(store, layer, context) for layer in (None, *layers) if layers])


def _means(store: DuckDBPyConnection, layer: int | None, context: FitContext) -> pd.DataFrame:
    frames = []
    for quantity in ("spearman", "closed"):
        query = _SEQUENCES.format(quantity=quantity)
        names = {"mean": quantity, "low": f"{quantity}_low", "high": f"{quantity}_high"}
        frame = means(store, query, context, cell=["every"], asked={"layer": layer})
        frames.append(frame.rename(columns=names))
    merged = frames[0].merge(frames[1], on=["every", "n_sequences"])
    return merged.drop(columns="every").assign(layer=layer)


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
    requires=("sequence_gate_rule",),
    made_by=_rows,
    needs=(Need.GATES,),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "closed between 0 and 1"),
    depends_on=(),
)


@asks("from gate_rule_agreement order by layer nulls first")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """The mean over the layers (layer is NULL), then every layer."""
    ...
