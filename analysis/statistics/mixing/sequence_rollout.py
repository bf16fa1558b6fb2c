"""Rollout in one sequence: share of its input tokens in a token after several layers."""

import pyarrow as pa

from analysis.measures.mixing.sequence_rollout import DISTANCES
from analysis.needs import Setting
from analysis.statistics.columns import named, single
from analysis.statistics.table import LAYER, SEQUENCE, TOKEN_TYPE, Column, Table

ATTENTION_ROLLOUT = "attention_rollout"
ROLLOUT = named("scope", "the scope whose maps of one layer after the other are multiplied")
DISTANCE = Column(
    "distance",
    pa.uint8(),
    f"|i − j| from this number to below the next of {', '.join(map(str, DISTANCES))}",
    "tokens",
)
TABLE = Table(
    name="sequence_rollout",
    grain="one row per sequence, layer, scope, token type and distance that the sequence has",
    key=(SEQUENCE, LAYER, ROLLOUT, TOKEN_TYPE, DISTANCE),
    values=(
        single(
            "share",
            "share of a token after the layer that comes from these tokens of the model's input, "
            "mean over tokens",
        ),
    ),
    source="abnar-2020",
    laws=("share between 0 and 1 + 1e-4",),
    order=("layer", "scope", "token_type", "distance", "seq"),
    depends_on=(Setting.GATE_RULE,),
)
