"""Spectra of the position embeddings."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.amplitude_spectrum import SPREAD, frequencies
from analysis.measures.positions.embedding_spectrum import CONTROLS, embedding_spectrum
from analysis.models.trace import ModelWeights
from analysis.statistics.positions.embedding_spectrum import TABLE
from analysis.statistics.rows import names_of, table_of

VERSION = 1


def weights(model: ModelWeights) -> pa.Table:
    """One row per control and frequency."""
    if model.position_embedding is None:
        return TABLE.shard_schema.empty_table()
    values = embedding_spectrum(model.position_embedding).flatten(0, 1).numpy()
    of_position = frequencies(len(model.position_embedding))
    return table_of(
        TABLE,
        control=names_of(np.arange(len(CONTROLS)).repeat(len(of_position)), CONTROLS),
        frequency=np.tile(of_position, len(CONTROLS)),
        **dict(zip(SPREAD, values.T, strict=True)),
    )
