"""The first rows and columns of every head's attention, in a few long texts.

Of a long text the first 15 tokens are kept: kept sequences × layers × heads rows.
"""

from analysis.statistics.columns import singles, small
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

SHOWN = 15
TABLE = Table(
    name="exemplar_attention",
    grain="one row per layer and head of the few sequences whose maps are kept",
    key=(SEQUENCE, LAYER, HEAD),
    values=(
        small("n", "tokens shown, the first of the sequence", "tokens"),
        singles("attention", "α of every pair of these tokens, one query after the other"),
    ),
    source="yamamoto-2023",
    laws=(
        f"n between 1 and {SHOWN}",
        "len(attention) = n * n",
        "list_min(attention) >= 0",
        "list_sum(attention) <= n * 1.05",
    ),
    depends_on=(),
)
