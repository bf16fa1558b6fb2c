"""Rank correlation between rollout by products of maps and by vectors, in one sequence."""

from analysis.needs import Setting
from analysis.statistics.columns import single
from analysis.statistics.mixing.sequence_rollout import ROLLOUT
from analysis.statistics.table import LAYER, SEQUENCE, Table

TABLE = Table(
    name="sequence_vector_agreement",
    grain="one row per followed sequence, layer and scope",
    key=(SEQUENCE, LAYER, ROLLOUT),
    values=(
        single(
            "spearman",
            "Spearman's ρ of shares by vectors and by the scope's multiplied maps, every pair of "
            "tokens counting once",
            "ρ",
        ),
    ),
    source="modarressi-2023",
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6",),
    depends_on=(Setting.GATE_RULE,),
)
