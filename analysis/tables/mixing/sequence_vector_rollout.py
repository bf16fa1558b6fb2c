"""What has come together in a token, by vectors that are followed through the layers."""

from analysis.needs import Setting
from analysis.tables.mixing.sequence_rollout import DISTANCE
from analysis.tables.mixing.sequence_rollout import TABLE as ROLLED_OUT
from analysis.tables.table import LAYER, SEQUENCE, TOKEN_TYPE, Table

VECTORS = "vectors"
"""In the place of a scope whose maps are multiplied: nothing is multiplied but vectors."""
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
