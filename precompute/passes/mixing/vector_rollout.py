"""Mean shares by vectors and by multiplied maps of the same sequences, and their difference."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.means import block_sizes, by_block
from analysis.statistics.mixing.sequence_vector_rollout import VECTORS
from analysis.statistics.mixing.vector_rollout import TABLE
from analysis.statistics.rows import rows_of

VERSION = 1
NEEDS = ("sequence_vector_rollout", "sequence_rollout")
_SHARES = """
    select seq, scope, {kind}, sum(share::double) as share
    from (
        select seq, layer, $vectors as scope, {kind}, share from sequence_vector_rollout
        union all
        select seq, layer, scope, {kind}, share
        from sequence_rollout semi join sequence_vector_rollout using (seq)
    )
    where layer = $layer
    group by seq, scope, {kind}
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows by token type and by distance of one layer and scope after the other."""
    layers = store.execute("select distinct layer from sequence_vector_rollout order by all")
    return rows_of(
        TABLE,
        [
            _means(store, layer, kind, context).assign(layer=layer)
            for (layer,) in layers.fetchall()
            for kind in ("token_type", "distance")
        ],
    )


def _means(store: DuckDBPyConnection, layer: int, kind: str, context: FitContext) -> pd.DataFrame:
    """Sequences without tokens of a type or at a distance count with a share of 0."""
    asked, query = {"layer": layer, "vectors": VECTORS}, _SHARES.format(kind=kind)
    shares = by_block(store, query, cell=["scope", kind], value="share", asked=asked)
    shares = shares.absent_as_zero(block_sizes(store, query, asked))
    of_vectors = shares.cells["scope"].eq(VECTORS).to_numpy()
    by_vectors = dict(zip(shares.cells[kind][of_vectors], shares.sums.T[of_vectors], strict=True))
    more = np.stack([by_vectors[value] for value in shares.cells[kind]], axis=1) - shares.sums
    differences = replace(shares, sums=more).with_intervals(context)[~of_vectors]
    return shares.with_intervals(context).assign(
        difference=differences["mean"],
        difference_low=differences["low"],
        difference_high=differences["high"],
    )
