"""Sums of the offset terms of scores, by head and bucket.

All offsets count. Those beyond the reach of a model's tables share the last bucket: there are
layers × heads × buckets rows, which shards keep for each sequence.
"""

from analysis.needs import Need
from analysis.statistics.columns import count, number, small
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

SUMS = {
    "query": "Σ q_i · P_r, over all pairs",
    "key": "Σ k_j · R_r, over all pairs",
    "bias": "Σ b_r, over all pairs",
    "deviation": "Σ d_ij, over the pairs of the bucket",
    "query_part": "Σ d_ij q_i · P_r, over the pairs of the bucket",
    "key_part": "Σ d_ij k_j · R_r, over the pairs of the bucket",
    "score": "Σ d_ij², over the pairs of the bucket",
}
"""Sums over terms as they enter the softmax; d_ij is a score less the mean of its row."""
_KEY = (LAYER, HEAD, small("bucket", "bucket of offsets, as the model counts them from 0"))
_VALUES = (
    small("first_offset", "first offset of the bucket", "tokens"),
    small("last_offset", "last offset of the bucket", "tokens"),
    count("n_pairs", "pairs of a query and a key that are compared", "pairs"),
    *(number(name, meaning, "score") for name, meaning in SUMS.items()),
)
TABLE = Table(
    name="offset_term",
    grain="one row per layer, head and bucket of offsets that the head does not tell apart; sums "
    "over pairs; none if scores have no terms of offsets",
    key=_KEY,
    values=_VALUES,
    source="he-2021",
    version=2,
    needs=(Need.DISTANCE_TERMS,),
    laws=("first_offset <= last_offset", "n_pairs > 0", "score >= 0"),
    merge=f"""
        select layer, head, bucket, min(first_offset) as first_offset,
            max(last_offset) as last_offset, sum(n_pairs)::bigint as n_pairs,
            {", ".join(f"sum({name}) as {name}" for name in SUMS)}
        from shards
        group by layer, head, bucket
    """,
    raw=(SEQUENCE, *_KEY, *_VALUES),
    piece="layer",
    depends_on=(),
)
