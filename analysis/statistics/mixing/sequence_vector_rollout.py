"""Rollout by vectors propagated through the layers, in one sequence."""

from analysis.needs import Setting
from analysis.statistics.mixing.sequence_rollout import DISTANCE
from analysis.statistics.mixing.sequence_rollout import TABLE as ROLLED_OUT
from analysis.statistics.table import LAYER, SEQUENCE, TOKEN_TYPE, Table

VECTORS = "vectors"
"""Name in place of a scope: rollout by vectors, not by a product of maps."""
TABLE = Table(
    name="sequence_vector_rollout",
    grain="one row per followed sequence, layer, token type and distance that the sequence has",
    key=(SEQUENCE, LAYER, TOKEN_TYPE, DISTANCE),
    values=ROLLED_OUT.values,
    source="modarressi-2023",
    laws=ROLLED_OUT.laws,
    order=("layer", "token_type", "distance", "seq"),
    depends_on=(Setting.GATE_RULE,),
)
