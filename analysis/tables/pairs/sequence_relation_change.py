"""Between which kinds of tokens a step changes the mixing, in one sequence."""

import pyarrow as pa

from analysis.needs import Need
from analysis.tables.table import EFFECT, LAYER, RELATION, SEQUENCE, Column, Table

TABLE = Table(
    name="sequence_relation_change",
    grain="one row per sequence, layer, effect and relation that the sequence has",
    key=(SEQUENCE, LAYER, EFFECT, RELATION),
    values=(
        Column("n", pa.int32(), "ordered pairs of two positions", "pairs"),
        Column(
            "before",
            pa.float64(),
            "the pair's share of the target's mixing before the step, summed over the pairs",
            "share",
        ),
        Column(
            "change",
            pa.float64(),
            "|δ| summed over the pairs; δ is by how much the step changes the pair's share",
            "share",
        ),
        Column("gain", pa.float64(), "δ summed over the pairs whose share grows", "share"),
    ),
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    laws=("n > 0", "before >= 0", "gain >= 0 and gain <= change"),
    order=("layer", "effect", "relation", "seq"),
)
