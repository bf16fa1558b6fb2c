"""Attention of each head by kind of token, and its entropy, in every sequence."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.habits import HABITS, QUANTITIES
from analysis.statistics.columns import single, whole
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.question import asks, frame_of
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

ROUNDING = 0.02
"""Largest violation of a bound in bfloat16, whose rows of attention do not quite sum to 1."""
_SHARE, _NATS = "share", "nats"
MEANINGS = {
    "self": ("attention of a token to itself", _SHARE),
    "previous": ("attention to the previous token, over all tokens", _SHARE),
    "next": ("attention to the next token, over all tokens", _SHARE),
    "cls": ("attention to [CLS]", _SHARE),
    "sep": ("attention to [SEP]", _SHARE),
    "comma_period": ("attention to commas and periods", _SHARE),
    "sep_to_sep": ("attention of [SEP] to [SEP]", _SHARE),
    "other_to_sep": ("attention of all tokens but [SEP] to [SEP]", _SHARE),
    "entropy": ("entropy of a token's attention, smoothed", _NATS),
    "entropy_cls": ("entropy of the attention of [CLS], smoothed", _NATS),
    "first": ("attention to BOS or the first token of a causal model", _SHARE),
    "uniform": ("entropy of a head that attends to everything alike", _NATS),
}
_ALWAYS = ("self", "entropy", "uniform")  # the rest is NULL where there is no such pair
HABIT_COLUMNS = {
    name: single(
        name,
        meaning if name in _ALWAYS else f"{meaning}; NULL where there is no such pair of tokens",
        unit,
        nullable=name not in _ALWAYS,
    )
    for name, (meaning, unit) in MEANINGS.items()
}
_NAME, _KEY = "sequence_head_pattern", (SEQUENCE, LAYER, HEAD)
_VALUES = (
    whole("n_tokens", "tokens, special ones included", "tokens"),
    *(HABIT_COLUMNS[name] for name in QUANTITIES),
)
TABLE = Table(
    name=_NAME,
    grain="one row per weighing, sequence, layer and head",
    key=(WEIGHING, *_KEY),
    values=_VALUES,
    source="clark-2019",
    laws=(
        *(
            f'"{name}" is null or "{name}" between 0 and {1 + ROUNDING}'
            for name, (_, unit) in MEANINGS.items()
            if unit == _SHARE
        ),
        f"entropy between 0 and uniform + {ROUNDING}",
        f"entropy_cls is null or entropy_cls between 0 and ln(n_tokens) + {ROUNDING}",
        "(entropy_cls is null) = (cls is null)",
        "(sep_to_sep is null) = (sep is null)",
        "uniform <= ln(n_tokens) + 1e-5",
    ),
    order=("weighing", "layer", "head", "seq"),
    shown_as="sequence_head_pattern_weighing",
    views=(of_weights(_NAME, "one row per sequence, layer and head", (*_KEY, *_VALUES)),),
    depends_on=(),
)


def extremes(
    store: DuckDBPyConnection,
    *,
    layer: int,
    head: int,
    quantity: str,
    limit: int,
    weighing: str = WEIGHT,
) -> pd.DataFrame:
    """The sequences with the largest values of a head's habit.

    Returns:
        seq, n_tokens, value, text; largest value first.

    Raises:
        UnknownName: naming the quantities there are.
    """
    if quantity not in QUANTITIES:
        raise UnknownName("habit", quantity, QUANTITIES)
    return frame_of(
        store,
        f"""
        select seq, pattern.n_tokens, "{quantity}"::double as value, text
        from sequence_head_pattern_weighing as pattern
        join sequence using (seq)
        where weighing = $weighing and layer = $layer and head = $head and "{quantity}" is not null
        order by value desc, seq
        limit $limit
        """,
        {"layer": layer, "head": head, "limit": limit, "weighing": weighing},
    )


_MEANS = ", ".join(f'avg("{name}")::double as "{name}"' for name in HABITS)


@asks(f"""
    select seq, name, value
    from (
        select seq, {_MEANS} from sequence_head_pattern_weighing
        where weighing = '{WEIGHT}' group by seq
    )
    unpivot (value for name in ({", ".join(f'"{name}"' for name in HABITS)}))
    order by all
""")
def by_sequence(store: DuckDBPyConnection) -> pd.DataFrame:
    """Mean over all heads by sequence and habit: seq, name, value; no row for habits without
    pairs."""
    ...
