"""Gradient importance of heads by type of attended token, in every sequence."""

from analysis.habits import OBJECTIVES
from analysis.statistics.columns import named, single
from analysis.statistics.question import quoted
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, TOKEN_TYPE, Table

OBJECTIVE = named(
    "objective",
    "the loss L: masked_lm (mean cross-entropy at masked tokens), next_token (the same at every "
    "token but the first), or, in a model that predicts no tokens, pooled_length (squared length "
    "of the mean of the last hidden states)",
)
TABLE = Table(
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
