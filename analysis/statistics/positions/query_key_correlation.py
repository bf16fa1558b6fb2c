"""Cross-covariance of queries and keys, and attention, by relative position; errors of both.

Offsets beyond 64 are not kept, however long the texts: there are at most layers × heads × 129 rows,
or × 65 in a causal model.
"""

from dataclasses import replace

from analysis.needs import Need
from analysis.statistics.columns import count, number, single
from analysis.statistics.positions.relative_position_profile import OFFSET
from analysis.statistics.table import HEAD, LAYER, N_SEQUENCES, SEQUENCE, Table, View

REACH = 64
_KEY = (LAYER, HEAD, OFFSET)
_VALUE = number("value", "Σ_j s_j xcov_j(t) = tr_t(QSKᵀ), mean over sequences", "score")
_CENTRED = "tr_t of the scores less the mean of their row"
_ATTENTION = number("attention", "tr_t(A), mean over sequences", "tokens")
TABLE = Table(
    name="query_key_correlation",
    grain="one row per layer, head and offset within 64 that a key may have; sums over sequences",
    key=_KEY,
    values=(
        count("n_sequences", "sequences that have the offset", "sequences"),
        number("value", "Σ_j s_j xcov_j(t), summed over sequences", "score"),
        number("attention", "tr_t(A), summed over sequences", "tokens"),
        number("value_centred", f"{_CENTRED}, summed over sequences", "score"),
        number(
            "value_per_pair",
            "Σ_j s_j xcov_j(t) over the pairs of the offset, summed over sequences",
            "score",
        ),
        number("attention_per_pair", "tr_t(A) over the pairs of the offset, summed over sequences"),
    ),
    needs=(Need.OFFSETS,),
    version=3,
    source="yamamoto-2023",
    laws=(
        f'"offset" between -{REACH} and {REACH}',
        "n_sequences > 0",
        "attention >= 0",
        "attention_per_pair between 0 and n_sequences * 1.05",
        "isfinite(value) and isfinite(value_centred)",
    ),
    merge="""
        select layer, head, "offset", sum(n_sequences)::bigint as n_sequences,
            sum(value) as value, sum(attention) as attention,
            sum(value_centred) as value_centred,
            sum(value_per_pair) as value_per_pair, sum(attention_per_pair) as attention_per_pair
        from shards
        group by layer, head, "offset"
    """,
    views=(
        View(
            "query_key_correlation_mean",
            "one row per layer, head and offset within 64 that a key may have; "
            "means over sequences, of sums and of pairs",
            (
                *_KEY,
                _VALUE,
                _ATTENTION,
                number("value_centred", f"{_CENTRED}, mean over sequences", "score"),
                number(
                    "value_per_pair",
                    "mean score of the pairs of the offset, mean over sequences that have it",
                    "score",
                ),
                number(
                    "attention_per_pair",
                    "mean α of the pairs of the offset, mean over sequences that have it",
                ),
                replace(N_SEQUENCES, meaning="sequences that have the offset"),
            ),
            """
            select layer, head, "offset",
                value / max(n_sequences) over (partition by layer, head) as value,
                attention / max(n_sequences) over (partition by layer, head) as attention,
                value_centred / max(n_sequences) over (partition by layer, head) as value_centred,
                value_per_pair / n_sequences as value_per_pair,
                attention_per_pair / n_sequences as attention_per_pair,
                n_sequences
            from stored.query_key_correlation
            """,
        ),
        View(
            "query_key_correlation",
            "one row per layer, head and offset within 64 that a key may have; "
            "means over sequences",
            (*_KEY, _VALUE, _ATTENTION),
            'select layer, head, "offset", value, attention from query_key_correlation_mean',
        ),
    ),
    depends_on=(),
)


ERRORS = Table(
    name="query_key_error",
    grain="one row per kept sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "score_error",
            "how far Q S Kᵀ is from the scores of the projections, over their length, for the "
            "worst query of any head",
            "ratio",
        ),
        single(
            "trace_error",
            "how far weighted cross-covariances are from the scores summed along diagonals, over "
            "the length of these sums, for the worst head",
            "ratio",
        ),
        single(
            "attention_error",
            "how far the softmax of Q S Kᵀ / √d' is from the model's own α, over the distance of "
            "α from even attention, for the worst query of any head",
            "ratio",
        ),
    ),
    source="yamamoto-2023",
    version=4,
    round_off=("score_error", "trace_error", "attention_error"),
    laws=("score_error >= 0", "trace_error >= 0", "attention_error >= 0"),
    depends_on=(),
)
