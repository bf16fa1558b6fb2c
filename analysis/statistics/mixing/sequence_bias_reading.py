"""Effect of the feed-forward network on mixing under each role of the bias, by sequence."""

from analysis.needs import Need, Setting
from analysis.statistics.columns import named, single
from analysis.statistics.table import LAYER, SEQUENCE, Table

READING = named(
    "reading", "what the bias is on the way of the integral: player, constant or left_out"
)
TABLE = Table(
    name="sequence_bias_reading",
    grain="one row per compared sequence, layer and reading of the bias",
    key=(SEQUENCE, LAYER, READING),
    values=(
        single(
            "similarity",
            "Spearman's ρ of the maps before and after the feed-forward network; NULL where there "
            "is nothing to rank",
            "ρ",
            nullable=True,
        ),
        single("mixing_ratio", "mixing ratio after the feed-forward network, mean over tokens"),
        single(
            "relative_error",
            "what the parts and what is no token's miss of the layer's output at the worst token, "
            "over its length or that of its update",
            "ratio",
        ),
    ),
    source="sundararajan-2017",
    round_off=("relative_error",),
    needs=(Need.PAIRS,),
    laws=("similarity between -1 - 1e-6 and 1 + 1e-6", "mixing_ratio between 0 and 1 + 1e-6"),
    depends_on=(Setting.GATE_RULE,),
)
