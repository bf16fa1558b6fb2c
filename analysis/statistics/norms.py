"""Attention weights beside the lengths of the vectors that they move (Kobayashi et al. 2020)."""

from analysis.measures.norms.fair_sample import SAMPLE_SIZE
from analysis.needs import Need
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    POS,
    SEQ,
    TOKEN_TYPE,
    count,
    length,
    named,
    number,
    place,
    ratio,
    share,
    weight,
    whole,
)
from analysis.statistics.base.correlations import of_bins, with_frequency
from analysis.statistics.base.means import dispersion, means
from analysis.statistics.base.tables import UNSTABLE_ARGMAX, Table, added_up

_SOURCE = "kobayashi-2020"
_ROUNDING = 1 + 1e-4
"""Largest sum of a row of attention, with its rounding."""
_EVERY = "all tokens, special ones too"

HEAD_TOKEN = Table(
    "head_token",
    key=(LAYER, HEAD, TOKEN_TYPE, SEQ, POS),
    source=_SOURCE,
    needs=(Need.OWN_VECTORS,),
    version=2,
    values={
        "value_norm": length("‖f(x)‖ of the token in the head"),
        "attention_received": weight(
            "attention weight the token receives, summed over the tokens that attend"
        ),
        "norm_share_received": weight(
            "share of ‖αf(x)‖ that the token brings, every query's row scaled to a sum of 1, "
            "summed over the tokens that attend"
        ),
        "weighted_norm_received": length(
            "‖αf(x)‖ of the token, summed over the tokens that attend",
            sql="attention_received * value_norm",
        ),
    },
)
TOKEN_NORM = Table(
    "token_norm",
    key=(LAYER, SEQ, POS),
    source=_SOURCE,
    values={"input_norm": length("‖x‖ of the token as the layer reads it")},
)
TOKEN_TYPE_MIXING = means(
    "token_type_mixing",
    of=HEAD_TOKEN,
    rows="head_token join sequence using (seq)",
    by=(LAYER, HEAD, TOKEN_TYPE),
    over=(HEAD,),
    shown_as="token_type_interval",
    wide="token_type_mixing",
    version=3,
    values={
        "attention": share(
            "α summed over the tokens of the type, mean over queries",
            most=_ROUNDING,
            sql="sum(attention_received::double) / any_value(n_tokens)",
            absent=0,
        ),
        "value_norm": length("mean ‖f(x)‖ of the tokens of the type, in sequences with any"),
        "weighted_norm": length(
            "‖αf(x)‖ summed over the tokens of the type, mean over queries",
            sql="sum(attention_received::double * value_norm) / any_value(n_tokens)",
            absent=0,
        ),
        "norm_share": share(
            "share of ‖αf(x)‖ that the tokens of the type bring, every query's row scaled to a sum "
            "of 1, mean over queries",
            most=_ROUNDING,
            sql="sum(norm_share_received::double) / any_value(n_tokens)",
            absent=0,
        ),
    },
)
VALUE_NORM_DISPERSION = dispersion(
    "value_norm_dispersion",
    of=HEAD_TOKEN,
    value="value_norm",
    by=(LAYER, HEAD),
    n="tokens, or tokens times heads where heads are pooled",
    note=_EVERY,
)
INPUT_NORM_DISPERSION = dispersion(
    "input_norm_dispersion",
    of=TOKEN_NORM,
    value="input_norm",
    by=(LAYER,),
    n="tokens, or tokens times layers where layers are pooled",
    note=_EVERY,
)
FREQUENCY_CORRELATION = with_frequency(
    "frequency_correlation",
    of=HEAD_TOKEN,
    rows="head_token join token using (seq, pos, token_type) join sequence using (seq)",
    key=named("attention or value_norm, mean over layers and heads", (), name="quantity"),
    version=4,
    values={
        "attention": share(
            "α received, mean over queries", sql="avg(attention_received::double / n_tokens)"
        ),
        "value_norm": length("‖f(x)‖", sql="avg(value_norm::double)"),
    },
)
ATTENTION_NORM_HISTOGRAM = Table(
    "attention_norm_histogram",
    key=(
        LAYER,
        HEAD,
        TOKEN_TYPE,
        place("float32 bits of α without the 21 lowest", "bin", name="attention_bin", most=508),
        place("float32 bits of ‖f(x)‖ without the 17 lowest", "bin", name="norm_bin"),
    ),
    source=_SOURCE,
    note="no empty ones",
    merge=added_up("layer, head, token_type, attention_bin, norm_bin", "n"),
    counted=True,
    declared=UNSTABLE_ARGMAX,
    values={"n": count("pairs of an attending and an attended token", "pairs")},
)
ATTENTION_NORM_CORRELATION = of_bins(
    "attention_norm_correlation",
    of=ATTENTION_NORM_HISTOGRAM,
    sides={"attention_rank": ("attention_bin", "α"), "norm_rank": ("norm_bin", "‖f(x)‖")},
    by=TOKEN_TYPE,
    version=2,
)
ATTENTION_NORM_SAMPLE = Table(
    "attention_norm_sample",
    key=(
        LAYER,
        HEAD,
        TOKEN_TYPE,
        number("draws of lower priority came first", name="priority", least=0, exact=True),
        SEQ,
        place("position that attends, counted from 0", name="query_pos"),
        place("position attended to, counted from 0", name="key_pos"),
    ),
    source=_SOURCE,
    note=f"the first {SAMPLE_SIZE} of each layer, head and token type, drawn uniformly",
    merge=f"""
        from shards qualify row_number() over (
            partition by layer, head, token_type order by priority, seq, query_pos, key_pos
        ) <= {SAMPLE_SIZE}
    """,
    version=3,
    laws=("priority > 0",),
    values={
        "attention": share("α of the pair", most=_ROUNDING),
        "value_norm": length("‖f(x)‖ of the attended token"),
    },
)
SINGULAR_VALUE = Table(
    "singular_value",
    key=(LAYER, HEAD, whole("place in descending order, from 1", name="rank", least=1)),
    source=_SOURCE,
    note="the values that are exactly 0 are left out",
    needs=(Need.AFFINE_VECTORS,),
    version=2,
    of_model=True,
    values={
        "value": ratio("singular value of f as a linear map on [x 1]"),
        "linear_value": ratio(
            "singular value of W_V W_O, the linear part of f",
            null="at the last rank, which it lacks",
        ),
    },
)
