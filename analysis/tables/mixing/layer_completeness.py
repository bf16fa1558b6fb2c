"""How nearly the parts of each whole layer add up to what the model computed."""

import pyarrow as pa

from analysis.tables.mixing.completeness import WORST_TOKEN
from analysis.tables.table import LAYER, SEQUENCE, Column, Table

TABLE = Table(
    name="layer_completeness",
    grain="one row per sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        Column(
            "relative_error",
            pa.float32(),
            "largest error of a token: the length of what the parts whose norms are stored miss "
            "of the layer's output, over the length of that output or of the update, whichever "
            "gives more",
            "ratio",
        ),
        *WORST_TOKEN,
    ),
    source="kobayashi-2024",
    laws=("relative_error >= 0",),
)
