"""Nearest kind of attention by relative position for each head, text by text."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.relative_position_cluster import nearest_centres
from analysis.statistics.fit import FitContext
from analysis.statistics.positions.relative_position_cluster import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.relative_positions import stored_profiles

VERSION = 2
NEEDS = ("relative_position_profile", "relative_position_centre")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per number of clusters, layer, head and cluster that the head is in."""
    profiles = stored_profiles(store)
    centres = store.execute(
        'select k, cluster, "offset", attention from relative_position_centre'
    ).df()
    frames = []
    for k, of_k in centres.groupby("k"):
        wide = of_k.pivot(index="cluster", columns="offset", values="attention")
        nearest = nearest_centres(profiles.values, wide.to_numpy())
        rows = pd.DataFrame(
            {
                "layer": profiles.layer,
                "head": profiles.head,
                "cluster": wide.index.to_numpy()[nearest],
            }
        )
        heads = rows.groupby(["layer", "head"])["cluster"]
        frames.append(heads.value_counts(normalize=True).rename("share").reset_index().assign(k=k))
    return rows_of(TABLE, frames)
