"""Maps of relevance in a few numbers: means over sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.relevance_rules import ALL
from analysis.statistics.columns import count, number, text
from analysis.statistics.question import asks, frame_of, placed
from analysis.statistics.relevance.relevance_map import HEAD_OR_MEAN, RULE, START_LAYER
from analysis.statistics.relevance.sequence_relevance import MEANINGS
from analysis.statistics.table import Table, View, interval

GAINS = {"mask_gain": "mask_share", "pointing_gain": "pointing"}
"""Quantity to compare with `mask_chance`, the value of an even map."""
QUANTITIES = (
    "cls_share",
    "special_share",
    "entropy",
    "evenness",
    "top5_share",
    "mask_share",
    "mask_gain",
    "pointing",
    "pointing_gain",
)
_UNIT = "share or nats"
_KEY = (RULE, START_LAYER, HEAD_OR_MEAN)
_WIDE = {name: MEANINGS[name] for name in ("cls_share", "entropy", "top5_share", "mask_share")}
TABLE = Table(
    name="relevance_summary",
    grain="one row per rule, layer, head (or their mean) and quantity",
    key=(
        *_KEY,
        text(
            "quantity",
            f"{', '.join(QUANTITIES)}; a gain is the difference to the share of patches that is "
            "inside the mask",
            "name",
        ),
    ),
    values=(
        number("mean", "unweighted mean over the sequences that have it", _UNIT),
        *interval(_UNIT),
        count("n_sequences", "sequences that have it", "sequences"),
    ),
    source="sawaki-2025",
    laws=(
        "low <= high",
        "n_sequences > 0",
        "mean >= 0 or quantity in ('mask_gain', 'pointing_gain')",
        "quantity = 'entropy' or abs(mean) <= 1 + 1e-5",
    ),
    order=("quantity", "rule", "layer", "head"),
    shown_as="relevance_interval",
    views=(
        View(
            "relevance_summary",
            "one row per rule, layer and head (or their mean); means over sequences",
            (
                *_KEY,
                *(
                    number(name, f"{meaning}; NULL if none has it", unit, nullable=True)
                    for name, (meaning, unit) in _WIDE.items()
                ),
                count("n", "sequences averaged over", "sequences"),
            ),
            f"""
            select rule, layer, head,
                {", ".join(f"max(mean) filter (quantity = '{name}') as {name}" for name in _WIDE)},
                max(n_sequences) as n
            from stored.relevance_summary
            group by rule, layer, head
            """,
        ),
    ),
    depends_on=(),
)


@asks(f"""
    select rule, layer, mean, low, high
    from relevance_interval
    where quantity = $quantity and head is null
    order by {placed(ALL, "rule")}, layer
""")
def by_layer(store: DuckDBPyConnection, *, quantity: str) -> pd.DataFrame:
    """One quantity of every rule's mean of the heads: rule, layer, mean, low, high."""
    ...


@asks("""
    select layer, head, mean, low, high, n_sequences
    from relevance_interval
    where quantity = $quantity and rule = $rule and head is not null
    order by layer, head
""")
def heads(store: DuckDBPyConnection, *, quantity: str, rule: str) -> pd.DataFrame:
    """One quantity of every head of a rule: layer, head, mean, low, high, n_sequences."""
    ...


def rules(store: DuckDBPyConnection) -> list[str]:
    """The rules that there are, in their order."""
    rules = frame_of(store, "select distinct rule from relevance_interval")["rule"]
    return sorted(rules, key=ALL.index)


@asks(f"""
    from relevance_interval
    order by {placed(ALL, "rule")}, layer, head nulls last, {placed(QUANTITIES, "quantity")}
""")
def table(store: DuckDBPyConnection) -> pd.DataFrame:
    """The whole long table: rule, layer, head, quantity, mean, low, high, n_sequences."""
    ...
