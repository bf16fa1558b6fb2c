"""Between which kinds of tokens a step changes the mixing, in one sequence."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.columns import number, whole
from analysis.statistics.question import asks
from analysis.statistics.table import EFFECT, LAYER, RELATION, SEQUENCE, Table

TABLE = Table(
    name="sequence_relation_change",
    grain="one row per sequence, layer, effect and relation that the sequence has",
    key=(SEQUENCE, LAYER, EFFECT, RELATION),
    values=(
        whole("n", "ordered pairs of two positions", "pairs"),
        number(
            "before",
            "the pair's share of the target's mixing before the step, summed over the pairs",
        ),
        number(
            "change",
            "|δ| summed over the pairs; δ is by how much the step changes the pair's share",
        ),
        number("gain", "δ summed over the pairs whose share grows"),
    ),
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    laws=("n > 0", "before >= 0", "gain >= 0 and gain <= change"),
    order=("layer", "effect", "relation", "seq"),
    depends_on=(Setting.GATE_RULE,),
)


@asks("""
    select seq, effect as name, sum(change) / sum(before) as value
    from sequence_relation_change
    group by all having sum(before) > 0 order by all
""")
def by_sequence(store: DuckDBPyConnection) -> pd.DataFrame:
    """Σ|δ| of every sequence over all its pairs and layers, as a share of the pairs' mixing before
    the step: seq, name (the effect), value."""
    ...
