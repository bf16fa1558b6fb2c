"""Effect of heads on what a model makes of a text."""

from analysis.effects import CHANGES, FILLINGS
from analysis.needs import Setting
from analysis.statistics.columns import mean_values, named, quantity, single
from analysis.statistics.means import Means, mean_of
from analysis.statistics.question import quoted
from analysis.statistics.table import (
    HEAD,
    LAYER,
    NAME,
    SEQUENCE,
    TOKEN_TYPE,
    Table,
    nullable,
)

_OF_ALL_TYPES = nullable(
    TOKEN_TYPE,
    "type of the tokens whose f(x) is replaced in all heads; NULL: heads are, whole",
)
_FILLING = named(
    "filling",
    "what stands in place: the mean of a head (or of f(x)) over texts of the corpus, by the type "
    "of the token, or zero",
)
_KEY = (
    _FILLING,
    nullable(LAYER, "layer, counted from 1; NULL: all layers at once"),
    nullable(HEAD, "head, counted from 1; NULL: all heads of the layer"),
    _OF_ALL_TYPES,
)
_UNIT = "by quantity: nats of the divergence and the loss, else a share"
PER_SEQUENCE = Table(
    name="sequence_head_effect",
    grain="one row per text that is run again, filling, and what is replaced: a head, all heads of "
    "a layer, or f(x) of the tokens of a type, in a layer or in all",
    key=(SEQUENCE, *_KEY),
    values=(
        single("cosine_distance", "1 − cos(h, h′) of the last hidden states, mean over tokens"),
        single("length", "‖h′ − h‖ / ‖h‖ of the last hidden states, mean over tokens"),
        single(
            "divergence",
            "KL(p‖p′) of what the model predicts, mean over the tokens that are asked; NULL: it "
            "predicts nothing",
            "nats",
            nullable=True,
        ),
        single(
            "loss",
            "rise of the cross-entropy, mean over the tokens that are asked; NULL: what stands "
            "there is not known",
            "nats",
            nullable=True,
        ),
    ),
    source="michel-2019",
    laws=(
        "cosine_distance between -1e-6 and 2 + 1e-6",
        "length >= 0",
        "divergence >= -1e-4",
        f"filling in ({quoted(*FILLINGS)})",
        "layer is not null or token_type is not null",
        "head is null or token_type is null",
    ),
    order=("token_type", "filling", "layer", "head", "seq"),
    depends_on=(Setting.RUN_AGAIN,),
    version=2,
)
_ROWS = f"""
    select seq, layer, head, token_type::varchar as token_type, quantity, mean
    from (
        unpivot (
            select * replace ({", ".join(f"{name}::double as {name}" for name in CHANGES)})
            from sequence_head_effect where filling = $filling
        )
        on {", ".join(CHANGES)} into name quantity value mean
    )
"""
_PER = "select distinct filling::varchar as filling from sequence_head_effect order by all"


def _means(of: str, *cell: str) -> Means:
    """Declare the means over texts of some of the rows, by what is not NULL in their key."""
    return Means(f"from ({_ROWS}) where {of}", [*cell, "quantity"], per=_PER)


TABLE = Table(
    name="head_effect",
    grain="one row per filling, what is replaced (a head, all heads of a layer, or f(x) of a type "
    "of token in a layer or in all), and quantity",
    key=(*_KEY, quantity(CHANGES, PER_SEQUENCE.values, kind=NAME)),
    values=mean_values(_UNIT),
    source="michel-2019",
    requires=("sequence_head_effect",),
    made_by=mean_of(
        _means("head is not null", "layer", "head"),
        _means("head is null and token_type is null", "layer"),
        _means("layer is not null and token_type is not null", "layer", "token_type"),
        _means("layer is null", "token_type"),
    ),
    laws=("low <= high", "n_sequences > 0", f"filling in ({quoted(*FILLINGS)})"),
    order=("quantity", "filling", "token_type", "layer", "head"),
    depends_on=(),
)
