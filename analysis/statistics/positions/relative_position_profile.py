"""Attention of each head by relative position, and the kinds of heads by it.

Offsets beyond 10 are not kept one by one, however long the text: a head has 21 numbers per text,
and one row. η² counts all offsets.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.profile_clusters import (
    centre_names,
    nearest_centres,
    profile_centres,
)
from analysis.statistics.columns import count, number, singles, small, text
from analysis.statistics.fit import FitContext
from analysis.statistics.rows import rows_of
from analysis.statistics.table import CHOSEN, HEAD, LAYER, SEQUENCE, Column, Table, View

REACH = 10
OFFSET = small("offset", "place of the key less place of the query; below 0: to the left", "tokens")
TABLE = Table(
    name="relative_position_profile",
    grain="one row per sequence, layer and head",
    key=(SEQUENCE, LAYER, HEAD),
    values=(
        small("n_tokens", "tokens of the sequence, special ones included", "tokens"),
        singles(
            "profile",
            "α summed over the pairs of one offset, from -10 to 10; NULL where no key may be seen",
            "tokens",
        ),
        number(
            "dependence",
            "η²: share of the variance of α over pairs that the offset explains; "
            "NULL if all pairs weigh the same",
            nullable=True,
        ),
    ),
    source="yamamoto-2023",
    laws=(
        f"len(profile) = {2 * REACH + 1}",
        "list_min(profile) >= 0",
        "list_sum(profile) <= n_tokens * 1.05",  # rows of α add up to 1, but for rounding
        "dependence is null or dependence between 0 and 1",
    ),
    order=("layer", "head", "seq"),
    shown_as="sequence_relative_position",
    views=(
        View(
            "relative_position_profile",
            "one row per layer, head and offset that a key may have; means over sequences",
            (
                LAYER,
                HEAD,
                OFFSET,
                number(
                    "attention",
                    "α summed over the pairs of the offset, mean over sequences",
                    "tokens",
                ),
            ),
            """
            select layer, head, "offset", avg(attention) as attention
            from (
                select layer, head, unnest(range(-10, 11))::smallint as "offset",
                    unnest(profile)::double as attention
                from stored.relative_position_profile
            )
            where attention is not null
            group by layer, head, "offset"
            """,
        ),
    ),
    depends_on=(),
)


class Profiles(NamedTuple):
    """Attention per token of every text, layer and head, by visible offset."""

    layer: np.ndarray
    head: np.ndarray
    values: np.ndarray
    offsets: np.ndarray


def stored_profiles(store: DuckDBPyConnection) -> Profiles:
    """Return the profiles by text, layer and head: of all texts, or of the file's sample."""
    rows = store.sql(
        """
        select layer, head, n_tokens, profile
        from kept.relative_position_profile
        order by seq, layer, head
        """
    ).to_arrow_table()
    lists = rows["profile"].combine_chunks()
    sums = lists.flatten().to_numpy(zero_copy_only=False)
    values = sums.reshape(-1, 2 * REACH + 1) / rows["n_tokens"].to_numpy()[:, None]
    there = ~np.isnan(values).any(axis=0)
    return Profiles(
        rows["layer"].to_numpy(),
        rows["head"].to_numpy(),
        values[:, there].astype(np.float64),
        np.arange(-REACH, REACH + 1)[there],
    )


N_CLUSTERS = tuple(range(2, 13))
"""Numbers of clusters of profiles; the paper takes 6."""
K = Column("k", pa.uint8(), "clusters that profiles are sorted into, 2 to 12", "clusters")
CLUSTER = text(
    "cluster",
    "where the centre looks (previous, next, both or self) and how strongly (strong, moderate or "
    "weak)",
    "name",
)


def _clustered(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows of each number of clusters, for as many as profiles can make up."""
    profiles = stored_profiles(store)
    frames = []
    for n_clusters in N_CLUSTERS:
        clustering = profile_centres(profiles.values, n_clusters, seed=context.seed)
        if clustering is None:
            break
        names = centre_names(clustering.centres, profiles.offsets)
        cluster, offset = np.indices(clustering.centres.shape).reshape(2, -1)
        columns = {
            "k": n_clusters,
            "cluster": np.array(names)[cluster],
            "offset": profiles.offsets[offset],
            "attention": clustering.centres.clip(min=0).ravel(),
            "n": clustering.sizes[cluster],
            "explained": clustering.explained,
        }
        frames.append(pd.DataFrame(columns))
    return rows_of(table, frames)


CENTRES = Table(
    name="relative_position_centre",
    grain="one row per number of clusters, cluster and offset that a key may have",
    key=(K, CLUSTER, OFFSET),
    values=(
        number("attention", "the centre: tr_t(A) / n, mean over the profiles of the cluster"),
        count("n", "profiles that the centre is the mean of", "profiles"),
        number("explained", "share of the variance of profiles that the k centres explain"),
    ),
    source="yamamoto-2023",
    declared=CHOSEN,
    laws=(
        "attention between 0 and 1.05",
        "n > 0",
        "explained between 0 and 1",
        "k between 2 and 12",
    ),
    version=2,
    requires=("relative_position_profile",),
    made_by=_clustered,
    depends_on=(),
)


_SHARE = number("share", "share of the texts in which the head is nearest to the centre")
_CLUSTER_KEY = (LAYER, HEAD, CLUSTER)


def _head_clusters(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Share of texts in which each head is nearest to each centre, by number of clusters."""
    profiles = stored_profiles(store)
    centres = store.sql('select k, cluster, "offset", attention from relative_position_centre').df()
    frames = []
    for k, of_k in centres.groupby("k"):
        wide = of_k.pivot(index="cluster", columns="offset", values="attention")
        nearest = nearest_centres(profiles.values, wide.to_numpy())
        cluster = wide.index.to_numpy()[nearest]
        rows = pd.DataFrame({"layer": profiles.layer, "head": profiles.head, "cluster": cluster})
        heads = rows.groupby(["layer", "head"])["cluster"]
        frames.append(heads.value_counts(normalize=True).rename("share").reset_index().assign(k=k))
    return rows_of(table, frames)


CLUSTERS = Table(
    name="relative_position_cluster",
    grain="one row per number of clusters, layer, head and cluster that it belongs to in some text",
    key=(K, *_CLUSTER_KEY),
    values=(_SHARE,),
    source="yamamoto-2023",
    declared=CHOSEN,
    laws=("share > 0 and share <= 1", "k between 2 and 12"),
    shown_as="relative_position_clustering",
    version=2,
    requires=("relative_position_profile", "relative_position_centre"),
    made_by=_head_clusters,
    views=(
        View(
            "relative_position_cluster",
            "one row per layer, head and cluster, of 6, that it belongs to in some text",
            (*_CLUSTER_KEY, _SHARE),
            "select layer, head, cluster, share from stored.relative_position_cluster where k = 6",
        ),
    ),
    depends_on=(),
)
