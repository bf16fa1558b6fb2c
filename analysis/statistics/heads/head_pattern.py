"""Attention of each head by kind of token, and its entropy: in every sequence, in the mean, and by
norms less by weights."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.habits import HABITS, QUANTITIES, TOKEN_TYPES
from analysis.statistics.columns import (
    HAVING_SEQUENCES,
    mean_values,
    number,
    quantity,
    single,
    text,
    whole,
)
from analysis.statistics.fit import FitContext
from analysis.statistics.means import Means, mean_of, means
from analysis.statistics.question import asks, frame_of, placed, quoted
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, HEAD_OR_MEAN, LAYER, SEQUENCE, Table, View
from analysis.statistics.weighing import WEIGHING, WEIGHT, difference, of_weights

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
    "uniform": (
        "entropy of a head that attends to everything alike, to no token too with a sink logit",
        _NATS,
    ),
}
_ALWAYS = ("self", "entropy", "uniform")  # the rest is NULL where there is no such pair
_HABIT_COLUMNS = {
    name: single(
        name,
        meaning if name in _ALWAYS else f"{meaning}; NULL where there is no such pair of tokens",
        unit,
        nullable=name not in _ALWAYS,
    )
    for name, (meaning, unit) in MEANINGS.items()
}
_PER_SEQUENCE, _KEY = "sequence_head_pattern", (SEQUENCE, LAYER, HEAD)
_VALUES = (
    whole("n_tokens", "tokens, special ones included", "tokens"),
    *(_HABIT_COLUMNS[name] for name in QUANTITIES),
)
PER_SEQUENCE = Table(
    name=_PER_SEQUENCE,
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
        f"entropy_cls is null or entropy_cls between 0 and ln(n_tokens + 1) + {ROUNDING}",
        "(entropy_cls is null) = (cls is null)",
        "(sep_to_sep is null) = (sep is null)",
        "uniform <= ln(n_tokens + 1) + 1e-5",
    ),
    order=("weighing", "layer", "head", "seq"),
    shown_as="sequence_head_pattern_weighing",
    views=(of_weights(_PER_SEQUENCE, "one row per sequence, layer and head", (*_KEY, *_VALUES)),),
    depends_on=(),
    version=3,
)
_NAME = "head_pattern"
_LONG_KEY = (LAYER, HEAD_OR_MEAN, quantity(QUANTITIES, PER_SEQUENCE.values))
_MEAN, *_REST = mean_values("share or nats")
_MEAN_VALUES = (
    replace(
        _MEAN,
        meaning=f"{_MEAN.meaning}; of attention to a type of token ({', '.join(TOKEN_TYPES)}) over "
        "all sequences, 0 in one without the type",
    ),
    *_REST,
)
_SHARES = quoted(*(name for name, (_, unit) in MEANINGS.items() if unit == "share"))
_WIDE = ", ".join(f"max(mean) filter (quantity = '{habit}') as \"{habit}\"" for habit in HABITS)
_NAMES = ", ".join(f'"{name}"' for name in QUANTITIES)
_AVERAGES = ", ".join(f'avg("{name}") as "{name}"' for name in QUANTITIES)
_OF_HEADS = f"""
    unpivot (
        select weighing::varchar as weighing, seq, layer, head, {_NAMES}
        from sequence_head_pattern_weighing
    )
    on {_NAMES} into name quantity value mean
"""
_OF_LAYERS = f"""
    unpivot (
        select weighing::varchar as weighing, seq, layer, {_AVERAGES}
        from sequence_head_pattern_weighing
        group by all
    )
    on {_NAMES} into name quantity value mean
"""
TABLE = Table(
    name=_NAME,
    grain="one row per weighing, layer, head (or their mean) and habit",
    key=(WEIGHING, *_LONG_KEY),
    values=_MEAN_VALUES,
    source="clark-2019",
    laws=(
        "mean >= 0",
        "low <= high",
        f"quantity not in ({_SHARES}) or mean <= {1 + ROUNDING}",
        "n_sequences > 0",
    ),
    order=("weighing", "head is not null", "layer", "head", "quantity"),
    shown_as="head_pattern_weighing",
    views=(
        View(
            "head_pattern",
            "one row per layer and head; means over sequences",
            (LAYER, HEAD, *(replace(_HABIT_COLUMNS[name], type=pa.float64()) for name in HABITS)),
            f"""
            select layer, head,
                {_WIDE}
            from stored.head_pattern
            where head is not null and weighing = 'weight'
            group by layer, head
            """,
        ),
        of_weights(
            "head_pattern_interval",
            "one row per layer, head (or their mean) and habit",
            (*_LONG_KEY, *_MEAN_VALUES),
            table=_NAME,
        ),
    ),
    depends_on=(),
    version=5,
    requires=(_PER_SEQUENCE,),
    made_by=mean_of(
        Means(_OF_HEADS, ["weighing", "layer", "head", "quantity"], zero=TOKEN_TYPES),
        Means(_OF_LAYERS, ["weighing", "layer", "quantity"], zero=TOKEN_TYPES),
    ),
)
_PAIRED = ", ".join(f'norm."{habit}" - weight."{habit}" as "{habit}"' for habit in HABITS)
_HABITS = ", ".join(f'"{habit}"' for habit in HABITS)
_HABIT_AVERAGES = ", ".join(f'avg("{habit}") as "{habit}"' for habit in HABITS)
_CHANGES = f"""
    select weight.seq, weight.layer, weight.head, {_PAIRED}
    from sequence_head_pattern as weight
    join sequence_head_pattern_weighing as norm using (seq, layer, head)
    where norm.weighing = 'norm'
"""
_LONG = f"on {_HABITS} into name quantity value difference"
_CHANGES_OF_HEADS = f"unpivot ({_CHANGES}) {_LONG}"
_CHANGES_OF_LAYERS = (
    f"unpivot (select seq, layer, {_HABIT_AVERAGES} from ({_CHANGES}) group by all) {_LONG}"
)
_BOTH_MEANS = """
    select layer, head, quantity, any_value(mean) filter (weighing = 'weight') as weight,
        any_value(mean) filter (weighing = 'norm') as norm
    from head_pattern_weighing
    group by layer, head, quantity
"""


def _differences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return differences of the same sequences, with the means that they are between."""
    both = store.sql(_BOTH_MEANS).df()
    frames = []
    for sql, cell in (
        (_CHANGES_OF_HEADS, ["layer", "head", "quantity"]),
        (_CHANGES_OF_LAYERS, ["layer", "quantity"]),
    ):
        changes = means(store, sql, context, cell=cell, value="difference", zero=TOKEN_TYPES)
        of_kind = both[both["head"].notna() == ("head" in cell)]
        frames.append(changes.merge(of_kind[[*cell, "weight", "norm"]], on=cell))
    return rows_of(table, frames)


_UNIT = "share or nats"
DIFFERENCE = Table(
    name="head_pattern_difference",
    grain="one row per layer, head (or their mean) and habit; the same sequences by weights and by "
    "norms",
    key=(LAYER, HEAD_OR_MEAN, text("quantity", ", ".join(HABITS), "name")),
    values=(
        number("weight", "mean over sequences by weights", _UNIT),
        number("norm", "mean over sequences by norms", _UNIT),
        *difference(_UNIT),
        HAVING_SEQUENCES,
    ),
    source="kobayashi-2020",
    laws=(
        "weight >= 0 and norm >= 0",
        "abs(difference - (norm - weight)) < 1e-6",
        "low <= high",
        "n_sequences > 0",
    ),
    order=("head is not null", "layer", "head", "quantity"),
    depends_on=(),
    version=4,
    requires=(_PER_SEQUENCE, _NAME),
    made_by=_differences,
)


@asks(f"""
    select layer, quantity, mean, low, high
    from head_pattern_weighing
    where weighing = $weighing and head is null
    order by layer, {placed(QUANTITIES, "quantity")}
""")
def by_layer(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Means over the heads of each layer: layer, quantity, mean, low, high."""
    ...


@asks(f"""
    select layer, head, quantity, mean, low, high
    from head_pattern_weighing
    where weighing = $weighing and head is not null
    order by layer, head, {placed(QUANTITIES, "quantity")}
""")
def heads(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Every head: layer, head, quantity, mean, low, high."""
    ...


@asks(f"""
    select quantity, mean, low, high, n_sequences
    from head_pattern_weighing
    where weighing = $weighing and layer = $layer and head = $head
    order by {placed(QUANTITIES, "quantity")}
""")
def of_head(
    store: DuckDBPyConnection, *, layer: int, head: int, weighing: str = WEIGHT
) -> pd.DataFrame:
    """One head: quantity, mean, low, high, n_sequences."""
    ...


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
