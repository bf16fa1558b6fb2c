"""Signed shares of every layer's update: what heads, token types and the rest of a layer bring."""

from analysis.effects import OF_PARTS, PARTS
from analysis.statistics.columns import mean_values, named, quantity, single
from analysis.statistics.means import Means, mean_of
from analysis.statistics.question import quoted
from analysis.statistics.table import HEAD, LAYER, NAME, SEQUENCE, TOKEN_TYPE, Table, nullable

_KEY = (
    LAYER,
    named(
        "part",
        "what brings it: a head, or all heads from the tokens of a type; the network with its "
        "biases, what normalisations change of the token itself (residual), and biases of "
        "attention and of normalisations; either of the first two and the last three sum to 1",
    ),
    nullable(HEAD, "head within its layer, counted from 1; NULL: the part is no head"),
    nullable(TOKEN_TYPE, f"{TOKEN_TYPE.meaning}; NULL: the part is no type of token"),
)
_LAWS = (
    f"part in ({quoted(*PARTS)})",
    "(part = 'head') = (head is not null)",
    "(part = 'token_type') = (token_type is not null)",
)
PER_SEQUENCE = Table(
    name="sequence_contribution",
    grain="one row per sequence, layer and part of the layer's update",
    key=(SEQUENCE, *_KEY),
    values=(
        single(
            "share",
            "⟨part, u⟩ / ‖u‖² of the update u = output − input, mean over tokens; below 0 where "
            "the part is against the update",
        ),
        single("length", "‖part‖ / ‖u‖, mean over tokens"),
        single(
            "norm",
            "‖Σ α f(x)‖ before any normalisation, mean over tokens; NULL: the part is not of "
            "attention",
            "stream length",
            nullable=True,
        ),
    ),
    source="cunningham-2026",
    laws=(*_LAWS, "length >= 0", "abs(share) <= length * (1 + 1e-4) + 1e-6"),
    order=("layer", "part", "head", "token_type", "seq"),
    depends_on=(),
)
_ROWS = f"""
    unpivot (
        select seq, layer, head, token_type::varchar as token_type, part::varchar as part,
            {", ".join(f"{name}::double as {name}" for name in OF_PARTS)}
        from sequence_contribution
    )
    on {", ".join(OF_PARTS)} into name quantity value mean
"""
_CELL = ["layer", "part", "quantity"]
TABLE = Table(
    name="contribution",
    grain="one row per layer, part of its update, and quantity",
    key=(*_KEY, quantity(OF_PARTS, PER_SEQUENCE.values, kind=NAME)),
    values=mean_values("stream length of the norm, else share"),
    source="cunningham-2026",
    laws=(*_LAWS, "low <= high", "n_sequences > 0"),
    requires=("sequence_contribution",),
    made_by=mean_of(
        Means(f"from ({_ROWS}) where part = 'head'", [*_CELL, "head"]),
        Means(f"from ({_ROWS}) where part = 'token_type'", [*_CELL, "token_type"]),
        Means(f"from ({_ROWS}) where head is null and token_type is null", _CELL),
    ),
    order=("quantity", "layer", "part", "head", "token_type"),
    depends_on=(),
)
