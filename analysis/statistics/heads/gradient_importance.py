"""Gradient importance of heads by type of attended token: in every sequence, and in the mean."""

from analysis.habits import OBJECTIVES
from analysis.statistics.columns import count, named, number, single
from analysis.statistics.means import Means, mean_of
from analysis.statistics.question import quoted
from analysis.statistics.table import (
    HEAD,
    HEAD_OR_MEAN,
    LAYER,
    SEQUENCE,
    TOKEN_TYPE,
    Table,
    View,
    interval,
)

OBJECTIVE = named(
    "objective",
    "the loss L: masked_lm (mean cross-entropy at masked tokens), next_token (the same at every "
    "token but the first), or, in a model that predicts no tokens, pooled_length (squared length "
    "of the mean of the last hidden states)",
)
PER_SEQUENCE = Table(
    name="sequence_gradient_importance",
    grain="one row per sequence that has a loss, layer, head and token type that the sequence has",
    key=(SEQUENCE, LAYER, HEAD, TOKEN_TYPE, OBJECTIVE),
    values=(
        single(
            "importance",
            "|∂L/∂α| summed over the tokens of the type, mean over queries",
            "unit of L",
        ),
    ),
    source="clark-2019",
    laws=("importance >= 0 and isfinite(importance)", f"objective in ({quoted(*OBJECTIVES)})"),
    order=("layer", "head", "token_type", "seq"),
    depends_on=(),
)
_OF_HEADS = """
    select seq, objective::varchar as objective, layer, head, token_type::varchar as token_type,
        importance
    from sequence_gradient_importance
"""
_OF_LAYERS = f"""
    select * exclude (head, importance), avg(importance) as importance
    from ({_OF_HEADS})
    group by all
"""
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
    requires=("sequence_gradient_importance",),
    made_by=mean_of(
        Means(_OF_HEADS, ["objective", "layer", "head", "token_type"], "importance"),
        Means(_OF_LAYERS, ["objective", "layer", "token_type"], "importance"),
    ),
)
