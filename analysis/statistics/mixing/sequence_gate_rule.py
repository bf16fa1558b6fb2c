"""Agreement of two attribution rules for gated networks, and share of closed gates, by sequence."""

from analysis.needs import Need
from analysis.statistics.columns import single
from analysis.statistics.table import LAYER, SEQUENCE, Table

TABLE = Table(
    name="sequence_gate_rule",
    grain="one row per compared sequence and layer; none if networks have no gates",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "spearman",
            "Spearman's ρ of the maps after the network by Integrated Gradients and by halves; "
            "NULL where there is nothing to rank",
            "ρ",
            nullable=True,
        ),
        single("closed", "share of the gates that let less than a tenth through, over all tokens"),
    ),
    source="achtibat-2024",
    needs=(Need.GATES,),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "closed between 0 and 1"),
    depends_on=(),
)
