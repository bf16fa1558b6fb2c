"""Errors of the sum of each whole layer's parts against the model's own output, by sequence."""

from analysis.needs import Setting
from analysis.statistics.columns import single
from analysis.statistics.mixing.completeness import WORST_TOKEN, worst_per_block
from analysis.statistics.table import LAYER, SEQUENCE, Table

TABLE = Table(
    name="layer_completeness",
    grain="one row per sequence and layer, or per block of sequences and layer the worst",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "relative_error",
            "largest error of a token: the length of what the parts whose norms are stored miss "
            "of the layer's output, over the length of that output or of the update, whichever "
            "gives more",
            "ratio",
        ),
        *WORST_TOKEN,
    ),
    source="kobayashi-2024",
    round_off=("relative_error", "worst_pos", "percentile_99"),
    laws=("relative_error >= 0",),
    per_block=worst_per_block(),
    depends_on=(Setting.GATE_RULE,),
)
