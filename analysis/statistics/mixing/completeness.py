"""Errors of the sum of a layer's parts against the model's own output, by sequence."""

from analysis.statistics.columns import count, single, small, whole
from analysis.statistics.table import LAYER, SEQUENCE, Table, View

_WORST_TOKEN = (
    small("worst_pos", "position of the token with the largest error"),
    single("percentile_99", "error that 99% of the tokens do not exceed", "ratio"),
)
"""Columns for the position of a sequence's largest error, and for its 99th percentile."""


def _worst_per_block(*more: str) -> str:
    """Return the query for the sequence with the largest error of every block and layer, with the
    block's largest value of each other number."""
    largest = ", ".join(f"max({name}) as {name}" for name in ("percentile_99", *more))
    return f"""
        select arg_max(seq, relative_error) as seq, layer, max(relative_error) as relative_error,
            arg_max(worst_pos, relative_error) as worst_pos, {largest}
        from shards join blocks using (seq)
        group by block, layer
    """


TABLE = Table(
    name="completeness",
    grain="one row per sequence and layer, or per block of sequences and layer the worst",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "relative_error",
            "largest error of a token: the length of what the parts miss of the attention block's "
            "output, over the length of that output",
            "ratio",
        ),
        *_WORST_TOKEN,
        single(
            "attention_sum_error",
            "largest distance from 1 of a row of attention weights; excess over 1 with sink logits",
        ),
    ),
    source="kobayashi-2020",
    version=2,
    round_off=(
        *("relative_error", "worst_relative_error", "percentile_99", "attention_sum_error"),
        *("worst_seq", "worst_pos"),
    ),
    laws=("relative_error >= 0", "attention_sum_error >= 0"),
    per_block=_worst_per_block("attention_sum_error"),
    shown_as="sequence_completeness",
    views=(
        View(
            "completeness",
            "one row per layer: the worst of all sequences, attention blocks and whole layers",
            (
                LAYER,
                single("worst_relative_error", "largest relative error", "ratio"),
                count("n_sequences", "sequences checked", "sequences"),
                single(
                    "percentile_99",
                    "error that 99% of the tokens of every sequence do not exceed",
                    "ratio",
                ),
                whole("worst_seq", "sequence with the largest error"),
                _WORST_TOKEN[0],
            ),
            """
            select layer,
                max(relative_error) as worst_relative_error,
                (select n_sequences from stored.run) as n_sequences,
                max(percentile_99) as percentile_99,
                arg_max({'seq': seq, 'pos': worst_pos}, relative_error).seq as worst_seq,
                arg_max({'seq': seq, 'pos': worst_pos}, relative_error).pos as worst_pos
            from (
                select seq, layer, relative_error, worst_pos, percentile_99
                from stored.completeness
                union all
                select seq, layer, relative_error, worst_pos, percentile_99
                from stored.layer_completeness
            )
            group by layer
            """,
        ),
    ),
    depends_on=(),
)
WHOLE_LAYERS = Table(
    name="layer_completeness",
    grain="one row per sequence and layer, or per block of sequences and layer the worst",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "relative_error",
            "largest error of a token: the length of what the parts whose norms are stored miss "
            "of the layer's output, over the length of that output or of the update, whichever "
            "gives more",
            "ratio",
        ),
        *_WORST_TOKEN,
    ),
    source="kobayashi-2024",
    version=2,
    round_off=("relative_error", "worst_pos", "percentile_99"),
    laws=("relative_error >= 0",),
    per_block=_worst_per_block(),
    depends_on=(),
)
WORST = """
    select layer, max(relative_error)::double as error, max(percentile_99)::double as percentile_99,
        arg_max(seq, relative_error) as seq, arg_max(worst_pos, relative_error) as pos, part,
        max(attention_sum_error)::double as attention_sum_error
    from (
        select *, 'block' as part from sequence_completeness
        union all by name
        select *, 'layer' as part from layer_completeness)
    group by layer, part order by layer, part
"""
"""The largest errors of every layer's attention block, and of whole layers where they were checked,
as SQL."""
