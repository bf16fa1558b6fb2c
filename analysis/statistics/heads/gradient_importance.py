"""Gradient importance of heads by type of attended token: means over sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import count, number
from analysis.statistics.heads.sequence_gradient_importance import OBJECTIVE
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, HEAD_OR_MEAN, LAYER, TOKEN_TYPE, Table, View, interval

_UNIT = "unit of L"
_IMPORTANCE = number(
    "importance",
    "|∂L/∂α| summed over the tokens of the type, mean over queries; mean over the sequences that "
    "have a loss and the type",
    _UNIT,
)
TABLE = Table(
    name="gradient_importance",
    grain="one row per layer, head (or their mean) and token type, under the model's objective",
    key=(OBJECTIVE, LAYER, HEAD_OR_MEAN, TOKEN_TYPE),
    values=(
        _IMPORTANCE,
        *interval(_UNIT),
        count("n_sequences", "sequences with a loss and the type", "sequences"),
    ),
    source="clark-2019",
    laws=("importance >= 0", "low <= high", "n_sequences > 0"),
    order=("head is not null", "layer", "head", "token_type"),
    shown_as="gradient_importance_objective",
    views=(
        View(
            "gradient_importance",
            "one row per layer, head and token type; means over sequences",
            (LAYER, HEAD, TOKEN_TYPE, _IMPORTANCE),
            "select layer, head, token_type, importance from stored.gradient_importance "
            "where head is not null",
        ),
    ),
    depends_on=(),
)


@asks("from gradient_importance_objective order by layer, head nulls first, token_type")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every head, then means over the heads of each layer (head is NULL): objective, layer, head,
    token_type, importance, low, high, n_sequences."""
    ...


def objective(store: DuckDBPyConnection) -> str | None:
    """Return the loss of the file's model, with or without stored gradients.

    A masked-language model on a corpus without masked tokens has a loss and no gradients.
    """
    rows = store.execute(
        "select value from provenance where name = 'gradient_objective'"
    ).fetchall()
    return rows[0][0] if rows else None
