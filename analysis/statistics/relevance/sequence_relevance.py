"""Every map of relevance of every sequence in a few numbers."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.needs import Setting
from analysis.relevance_rules import ALL, MEAN_WEIGHTS
from analysis.statistics.columns import single, whole
from analysis.statistics.question import asks, frame_of, placed, quoted
from analysis.statistics.relevance.relevance_map import HEAD_OR_MEAN, RULE, START_LAYER
from analysis.statistics.table import SEQUENCE, Table

_SHARE, _NATS, _TOKENS = "share", "nats", "tokens"
MEANINGS = {
    "cls_share": ("share of the relevance on [CLS] and, where there is one, [DIST]", _SHARE),
    "special_share": ("share of the relevance on all special tokens", _SHARE),
    "entropy": ("entropy of the relevance of content, made to sum to 1", _NATS),
    "evenness": ("that entropy, over the largest that there can be", _SHARE),
    "top5_share": ("share of the relevance of content on its most relevant 5% of tokens", _SHARE),
    "mask_share": ("share of the relevance of patches that is inside the mask", _SHARE),
    "mask_chance": ("share of the patches that is inside the mask", _SHARE),
    "pointing": ("share of the most relevant patch that is inside the mask", _SHARE),
}
ABSENT = {
    "cls_share": "NULL without [CLS]",
    "entropy": "NULL if content has none",
    "evenness": "NULL if content has none, or is one token",
    "top5_share": "NULL if content has none",
    "mask_share": "NULL without a mask",
    "mask_chance": "NULL without a mask",
    "pointing": "NULL without a mask",
}
QUANTITIES = tuple(MEANINGS)
_CARRIED = "NULL where no rule carries it back"
TABLE = Table(
    name="sequence_relevance",
    grain="one row per sequence, rule, layer and head (or their mean)",
    key=(SEQUENCE, RULE, START_LAYER, HEAD_OR_MEAN),
    values=(
        *(
            single(
                name,
                f"{meaning}; {ABSENT[name]}" if name in ABSENT else meaning,
                unit,
                nullable=name in ABSENT,
            )
            for name, (meaning, unit) in MEANINGS.items()
        ),
        single(
            "conservation_error",
            f"largest |Σ R − 1| on the way down; {_CARRIED}",
            _SHARE,
            nullable=True,
        ),
        whole(
            "n_in_place",
            "tokens, over all layers, whose relevance stayed where it was because its denominator "
            f"was 0; {_CARRIED}",
            _TOKENS,
            nullable=True,
        ),
    ),
    source="sawaki-2025",
    round_off=("conservation_error",),
    laws=(
        *(
            f"{name} is null or {name} between 0 and 1 + 1e-5"
            for name, (_, unit) in MEANINGS.items()
            if unit == _SHARE
        ),
        "cls_share is null or cls_share <= special_share + 1e-5",
        "entropy is null or entropy >= 0",
        "(mask_share is null) or (mask_chance is not null)",
        "(pointing is null) = (mask_share is null)",
        "(entropy is null) = (top5_share is null)",
        "conservation_error is null or conservation_error between 0 and 1e-5",
        "(conservation_error is null) = (n_in_place is null)",
        "n_in_place is null or n_in_place >= 0",
    ),
    order=("rule", "layer", "head", "seq"),
    depends_on=(Setting.GATE_RULE, Setting.KEPT),
)


@asks(f"""
    select rule, layer, head, {", ".join(QUANTITIES)}
    from sequence_relevance
    where seq = $seq
    order by {placed(ALL, "rule")}, layer, head nulls last
""")
def of_sequence(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """Every map of one sequence: rule, layer, head (NULL: mean), and all of `QUANTITIES`."""
    ...


def extremes(
    store: DuckDBPyConnection, *, rule: str, layer: int, head: int | None, quantity: str, limit: int
) -> pd.DataFrame:
    """The sequences in which a map has most of a quantity.

    Args:
        head: None: the mean of the heads.

    Returns:
        seq, value, text; largest value first.

    Raises:
        UnknownName: naming the quantities there are.
    """
    if quantity not in QUANTITIES:
        raise UnknownName("quantity of relevance", quantity, QUANTITIES)
    return frame_of(
        store,
        f"""
        select seq, {quantity}::double as value, text
        from sequence_relevance
        join sequence using (seq)
        where rule = $rule and layer = $layer and head is not distinct from $head
            and {quantity} is not null
        order by value desc, seq
        limit $limit
        """,
        {"rule": rule, "layer": layer, "head": head, "limit": limit},
    )


@asks(f"""
    select
        max(conservation_error)::double as worst,
        sum(n_in_place)
            filter (head is not null or rule in ({quoted(*MEAN_WEIGHTS)}))::bigint as n_in_place
    from sequence_relevance
""")
def conservation(store: DuckDBPyConnection) -> pd.DataFrame:
    """One row: worst (the largest |Σ R − 1| of all), n_in_place (tokens kept in place, each head
    and each way down on mean weights counted once)."""
    ...
