"""Agreement between the offsets that a head's scores and its attention prefer."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import count, number, text
from analysis.statistics.parts import OF_HEADS, part_columns, part_laws
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER_OR_ALL, Table, interval

KERNEL = "kernel"
COUNTINGS = {
    "sum": ("score_offset", "attention_offset"),
    "per_pair": ("score_offset_per_pair", "attention_offset_per_pair"),
    "centred": ("score_offset_centred", "attention_offset"),
    KERNEL: ("kernel_offset", "attention_offset_per_pair"),
}
"""Ways of counting offsets, and the columns of `head_offset` that each compares."""
MIN_DEPENDENCES = (0.0, 0.05, 0.1, 0.25, 0.5)


TABLE = Table(
    name="offset_agreement",
    grain="one row per way of counting, least dependence and layer, or all layers pooled",
    key=(
        text(
            "counting",
            "sum (over all pairs of an offset), per_pair, centred (sums of scores less their row's "
            "mean) or kernel (scores by position alone, of models that turn queries and keys)",
            "name",
        ),
        number("min_dependence", "heads with a lower η² are left out"),
        LAYER_OR_ALL,
    ),
    values=(
        count("n_heads", "heads compared", "heads"),
        number("agreement", "share of the heads whose scores and attention prefer the same offset"),
        *interval("share", of="agreement"),
        number("chance", "agreement to expect if offsets were dealt to the heads at random"),
        number(
            "spearman",
            "Spearman's ρ of the two offsets over heads; NULL where either is the same for all",
            "ρ",
            nullable=True,
        ),
        *interval("ρ", of="spearman"),
        *part_columns(OF_HEADS),
    ),
    source="yamamoto-2023",
    needs=(Need.OFFSETS,),
    laws=(
        "n_heads >= 2",
        "agreement between 0 and 1",
        "chance between 0 and 1",
        "agreement_low <= agreement_high",
        "spearman is null or spearman between -1 and 1",
        "spearman is not null or spearman_low is null",
        *part_laws(OF_HEADS),
    ),
    depends_on=(),
)


@asks("""
    select * exclude (counting, min_dependence)
    from offset_agreement
    where counting = $counting and min_dependence = $min_dependence
    order by layer nulls last
""")
def agreement(store: DuckDBPyConnection, *, counting: str, min_dependence: float) -> pd.DataFrame:
    """Share of heads with equal offsets of scores and attention, in each layer and in all.

    Args:
        counting: a key of `COUNTINGS`.
        min_dependence: one of `MIN_DEPENDENCES`.

    Returns:
        layer (NULL for all) and the columns of the table; no row with fewer than two heads.
    """
    ...
