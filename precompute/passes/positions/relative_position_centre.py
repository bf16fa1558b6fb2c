"""Kinds of attention by relative position, found among the profiles of all texts and heads."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.relative_position_centre import centre_names, profile_centres
from analysis.statistics.fit import FitContext
from analysis.statistics.positions.relative_position_centre import N_CLUSTERS, TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.relative_positions import stored_profiles

VERSION = 2
NEEDS = ("relative_position_profile",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per number of clusters, cluster and offset, for as many as profiles can make up."""
    profiles = stored_profiles(store)
    frames = []
    for n_clusters in N_CLUSTERS:
        clustering = profile_centres(profiles.values, n_clusters, seed=context.seed)
        if clustering is None:
            break
        names = centre_names(clustering.centres, profiles.offsets)
        cluster, offset = np.indices(clustering.centres.shape).reshape(2, -1)
        frames.append(
            pd.DataFrame(
                {
                    "k": n_clusters,
                    "cluster": np.array(names)[cluster],
                    "offset": profiles.offsets[offset],
                    "attention": clustering.centres.clip(min=0).ravel(),
                    "n": clustering.sizes[cluster],
                    "explained": clustering.explained,
                }
            )
        )
    return rows_of(TABLE, frames)
