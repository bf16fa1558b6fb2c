"""Rollout by vectors propagated through the layers: errors, shares, agreement with maps."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.columns import number, single
from analysis.statistics.fit import FitContext
from analysis.statistics.means import Means, block_sizes, by_block, layers_and_mean, mean_of
from analysis.statistics.mixing import rollout
from analysis.statistics.mixing.rollout import DISTANCE, OF_TOKENS, ROLLOUT, SHARE
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    LAYER,
    LAYER_OR_MEAN,
    N_SEQUENCES,
    SEQUENCE,
    TOKEN_TYPE,
    Table,
    interval,
    nullable,
)

COMPLETENESS = Table(
    name="vector_completeness",
    grain="one row per followed sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "relative_error",
            "largest distance of a token after the layer from the sum of the vectors that make it "
            "up, over the length of the token's own vector",
            "ratio",
        ),
        single(
            "bias_share",
            "length of what no token of the input sent, over the lengths of all that makes up a "
            "token after the layer, mean over tokens",
        ),
    ),
    source="modarressi-2023",
    needs=(Need.EVERY_LAYER,),
    round_off=("relative_error",),
    laws=("relative_error >= 0", "bias_share between 0 and 1"),
    depends_on=(Setting.CHECKED,),
)


VECTORS = "vectors"
"""Name in place of a scope: rollout by vectors, not by a product of maps."""
PER_SEQUENCE = Table(
    name="sequence_vector_rollout",
    grain="one row per followed sequence, layer, token type and distance that the sequence has",
    key=(SEQUENCE, LAYER, TOKEN_TYPE, DISTANCE),
    values=rollout.PER_SEQUENCE.values,
    source="modarressi-2023",
    needs=(Need.EVERY_LAYER,),
    requires=("vector_completeness",),
    laws=rollout.PER_SEQUENCE.laws,
    order=("layer", "token_type", "distance", "seq"),
    depends_on=(Setting.CHECKED,),
)
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


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows by token type and by distance of one layer and scope after the other."""
    layers = store.execute("select distinct layer from sequence_vector_rollout order by all")
    return rows_of(
        table,
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


_DIFFERENCE = number("difference", "mean share by vectors less mean share by this scope")
TABLE = Table(
    name="vector_rollout",
    grain="one row per layer, scope, and token type or distance, of the followed sequences",
    key=(
        LAYER,
        nullable(ROLLOUT, f"{ROLLOUT.meaning}; vectors: none is, vectors are followed instead"),
        *OF_TOKENS,
    ),
    values=(
        *SHARE,
        nullable(_DIFFERENCE, f"{_DIFFERENCE.meaning}; NULL: it is by vectors"),
        *interval("share", of="difference"),
        N_SEQUENCES,
    ),
    source="modarressi-2023",
    needs=(Need.EVERY_LAYER,),
    requires=("sequence_vector_rollout", "sequence_rollout"),
    made_by=_rows,
    laws=(
        "mean between 0 and 1 + 1e-4",
        "low <= high",
        "difference_low <= difference_high",
        "n_sequences > 0",
        "(token_type is null) <> (distance is null)",
    ),
    depends_on=(),
)


SEQUENCE_AGREEMENT = Table(
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
    needs=(Need.EVERY_LAYER,),
    requires=("vector_completeness", "layer_completeness"),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6",),
    depends_on=(Setting.CHECKED,),
)
_SEQUENCES = """
    select seq, scope, avg(spearman::double) as spearman
    from sequence_vector_agreement
    where $layer is null or layer = $layer
    group by seq, scope
"""
AGREEMENT = Table(
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
    needs=(Need.EVERY_LAYER,),
    requires=("sequence_vector_agreement",),
    made_by=mean_of(
        Means(_SEQUENCES, ["scope"], "spearman", per=layers_and_mean("sequence_vector_agreement"))
    ),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "low <= high", "n_sequences > 0"),
    depends_on=(),
)
