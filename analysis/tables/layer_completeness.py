"""How nearly the parts of each whole layer add up to what the model computed."""

import pyarrow as pa

from analysis.tables.table import LAYER, SEQUENCE, Column, Table

TABLE = Table(
    name="layer_completeness",
    grain="one row per sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        Column(
            "relative_error",
            pa.float32(),
            "largest difference between the layer's output and the sum of the parts whose norms "
            "are stored, over the largest output",
            "ratio",
        ),
    ),
    source="kobayashi-2024",
    laws=("relative_error >= 0",),
)
