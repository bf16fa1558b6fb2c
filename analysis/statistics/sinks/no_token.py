"""Attention that goes to no token, where heads have sink logits: in every text and in the mean."""

from analysis.needs import Need
from analysis.sinks import NO_TOKEN
from analysis.statistics.columns import mean_values, single, text
from analysis.statistics.sinks.sink import ROUNDING, of_heads_and_layers
from analysis.statistics.table import HEAD, HEAD_OR_MEAN, LAYER, SEQUENCE, Table

_MEANINGS = {
    "no_token": "1 − Σ α over the tokens that a query sees, mean over the queries",
    "even": "the same of a head that attends to every token and to none alike: 1 / (m + 1)",
    "first": "α of the text's first token, mean over the same queries; 0 where it is not seen",
    "early": "no_token over the first half of the queries; NULL in a text of one token",
    "late": "no_token over the second half of the queries; NULL in a text of one token",
}
_OF_HALVES = ("early", "late")
PER_SEQUENCE = Table(
    name="sequence_no_token",
    grain="one row per sequence, layer with sink logits, and head",
    key=(SEQUENCE, LAYER, HEAD),
    values=tuple(
        single(name, meaning, "share", nullable=name in _OF_HALVES)
        for name, meaning in _MEANINGS.items()
    ),
    needs=(Need.SINK_LOGITS,),
    source="openai-2025",
    laws=(
        *(f"{name} is null or {name} between {-ROUNDING} and {1 + ROUNDING}" for name in NO_TOKEN),
        f"no_token + first <= {1 + ROUNDING}",
        "even > 0",
        "(early is null) = (late is null)",
    ),
    order=("layer", "head", "seq"),
    depends_on=(),
)
TABLE = Table(
    name="no_token",
    grain="one row per layer with sink logits, head (or their mean), and quantity",
    key=(LAYER, HEAD_OR_MEAN, text("quantity", ", ".join(NO_TOKEN), "name")),
    values=mean_values("share"),
    needs=(Need.SINK_LOGITS,),
    source="openai-2025",
    laws=(
        f"mean between {-ROUNDING} and {1 + ROUNDING}",
        "low <= high",
        "n_sequences > 0",
    ),
    order=("head is not null", "layer", "head", "quantity"),
    depends_on=(),
    requires=("sequence_no_token",),
    made_by=of_heads_and_layers("sequence_no_token", NO_TOKEN, of=()),
)
