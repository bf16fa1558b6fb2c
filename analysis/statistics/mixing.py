"""Whole layers, with feed-forward, residual connections and normalisations as parts: errors of
their sums, mixing ratios, similarity of scopes, and rollouts by maps and by vectors."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.mixing.rollout import DISTANCES
from analysis.needs import Need, Setting
from analysis.scopes import OF_RATIOS, SCOPES, WEIGHTS_WITH_RESIDUAL
from analysis.statistics.base.columns import (
    LAYER,
    POS,
    SEQ,
    TOKEN_TYPE,
    correlation,
    count,
    interval,
    named,
    number,
    place,
    pooled,
    ratio,
    share,
    small,
    whole,
    with_names,
)
from analysis.statistics.base.correlations import with_frequency
from analysis.statistics.base.means import Blocks, means
from analysis.statistics.base.tables import FitContext, Part, Table, View


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


_WORST_TOKEN = {
    "worst_pos": place("position of the token with the largest error"),
    "percentile_99": ratio("error that 99% of the tokens do not exceed"),
}
_WORST_POS, _PERCENTILE = (column.typed(single=True) for column in with_names(_WORST_TOKEN))
COMPLETENESS = Table(
    "completeness",
    key=(SEQ, LAYER),
    source="kobayashi-2020",
    note="in large files of the worst sequence of each block",
    version=2,
    round_off=(
        *("relative_error", "worst_relative_error", "percentile_99", "attention_sum_error"),
        *("worst_seq", "worst_pos"),
    ),
    per_block=_worst_per_block("attention_sum_error"),
    shown_as="sequence_completeness",
    views=(
        View(
            "completeness",
            "one row per layer: the worst of all sequences, attention blocks and whole layers",
            (
                LAYER,
                ratio("largest relative error", name="worst_relative_error").typed(single=True),
                count("sequences checked", "sequences", name="n_sequences"),
                replace(
                    _PERCENTILE,
                    meaning="error that 99% of the tokens of every sequence do not exceed",
                ),
                whole("sequence with the largest error", name="worst_seq"),
                _WORST_POS,
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
    values={
        "relative_error": ratio(
            "largest error of a token: the length of what the parts miss of the attention block's "
            "output, over the length of that output"
        ),
        **_WORST_TOKEN,
        "attention_sum_error": ratio(
            "largest distance from 1 of a row of attention weights; excess over 1 with sink logits",
            "share",
        ),
    },
)
LAYER_COMPLETENESS = Table(
    "layer_completeness",
    key=(SEQ, LAYER),
    source="kobayashi-2024",
    note="in large files of the worst sequence of each block",
    version=2,
    round_off=("relative_error", "worst_pos", "percentile_99"),
    per_block=_worst_per_block(),
    values={
        "relative_error": ratio(
            "largest error of a token: the length of what the parts whose norms are stored miss "
            "of the layer's output, over the length of that output or of the update, whichever "
            "gives more"
        ),
        **_WORST_TOKEN,
    },
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

_MOST = 1 + 1e-5
_MEANT = (
    "how much of the layer counts, one of the names of the view `scope`, from attn_w to the whole "
    "layer"
)
MASK_TYPES = ("bos", "first", "cls", "sep", "mask", "other", "all")
RATIO_SCOPE = named(
    f"{_MEANT}; {WEIGHTS_WITH_RESIDUAL}: half the weights, half the token itself",
    OF_RATIOS,
    "scope",
)
_OF_TYPES = (
    RATIO_SCOPE,
    named(
        "bos, first, cls, sep, mask, other (commas and periods too) or all",
        MASK_TYPES,
        "token_type",
    ),
)
_RATIO_BETWEEN = "mean between min - 1e-9 and max + 1e-9"
_ENDS = {"min": ratio("smallest", exact=True), "max": ratio("largest", most=_MOST, exact=True)}
SEQUENCE_MIXING_RATIO = Table(
    "sequence_mixing_ratio",
    key=(LAYER, *_OF_TYPES, SEQ),
    source="kobayashi-2021",
    version=3,
    requires=("layer_completeness",),
    laws=(_RATIO_BETWEEN,),
    values={
        "n": whole("tokens of the type", "tokens", least=1),
        "mean": number("mean mixing ratio of the tokens", "ratio", exact=True),
        "m2": number(
            "squared distances from the mean, summed", "squared ratio", least=0, exact=True
        ),
        **_ENDS,
    },
)
_SPREADS = """
    with whole as (
        select layer, scope, token_type, sum(n)::bigint as n, sum(n * mean) / sum(n) as centre,
            min(min) as min, max(max) as max
        from sequence_mixing_ratio
        group by grouping sets ((layer, scope, token_type), (scope, token_type))
    )
    select whole.layer, scope, token_type, any_value(whole.n) as n,
        any_value(whole.min) as min, any_value(whole.max) as max,
        sqrt(sum(part.m2 + part.n * (part.mean - centre) ** 2) / any_value(whole.n)) as std
    from whole
    join sequence_mixing_ratio as part using (scope, token_type)
    where whole.layer is null or whole.layer = part.layer
    group by whole.layer, scope, token_type
"""
_BY_TOKENS = """
    select seq, scope, token_type, sum(n * mean) as value, sum(n) as n_tokens
    from sequence_mixing_ratio where {some} group by all
"""


def _frame(table: Table, store: DuckDBPyConnection, context: FitContext) -> pd.DataFrame:
    """Return the rows of declared means, with names as text."""
    fit: Any = table.made_by
    frame = fit(table, store, context).to_pandas()
    return frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))


def _ratios(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return a row per scope and token type, for every layer and for all pooled; by hand, since in
    these, sequences weigh by their tokens."""
    of_layers = means(
        table.name,
        of=SEQUENCE_MIXING_RATIO,
        values={"mean": SEQUENCE_MIXING_RATIO.values["mean"]},
    )
    blocks = Blocks.of(store, SEQUENCE_MIXING_RATIO.name)
    whole = blocks.means(store, _BY_TOKENS, context, weight="n_tokens").assign(layer=None)
    spreads = store.sql(_SPREADS).df()
    rows = pd.concat([_frame(of_layers, store, context), whole.astype({"layer": float})])
    return table.rows([rows.merge(spreads, on=["layer", "scope", "token_type"])])


_SPREAD = {
    "std": ratio("population standard deviation over tokens"),
    **_ENDS,
    "n": count("tokens, or tokens times layers where layers are pooled", "tokens"),
}
_RATIO = number(
    "mean mixing ratio: of a layer the unweighted mean over sequences, pooled that over tokens",
    "ratio",
)
_RATIO_KEY = (pooled(LAYER), *_OF_TYPES)
MIXING_RATIO = Table(
    "mixing_ratio",
    key=_RATIO_KEY,
    source="kobayashi-2021",
    version=2,
    requires=("sequence_mixing_ratio",),
    made_by=_ratios,
    laws=(_RATIO_BETWEEN, "n >= n_sequences"),
    shown_as="mixing_ratio_interval",
    views=(Part("mixing_ratio", ("low", "high", "n_sequences")),),
    values={
        "mean": _RATIO,
        **interval("ratio"),
        **_SPREAD,
        "n_sequences": count("sequences that have a token of the type", "sequences"),
    },
)
TOKEN_MIXING_RATIO = Table(
    "token_mixing_ratio",
    key=(RATIO_SCOPE, SEQ, POS),
    source="kobayashi-2021",
    requires=("layer_completeness",),
    needs=(Need.FREQUENCY,),
    values={"mean": ratio("mixing ratio of the token, mean over layers", most=_MOST)},
)
RATIO_FREQUENCY_CORRELATION = with_frequency(
    "ratio_frequency_correlation",
    of=TOKEN_MIXING_RATIO,
    rows="token_mixing_ratio join token using (seq, pos)",
    key=replace(RATIO_SCOPE, names=()),
    values={
        scope: ratio("mixing ratio", sql=f"max(mean) filter (scope = '{scope}')")
        for scope in OF_RATIOS
    },
    version=2,
)

_TWO_SCOPES = (
    named(_MEANT, SCOPES, "scope_a"),
    named("the scope it is compared with", SCOPES, "scope_b"),
)
_ALIKE = correlation("Spearman's ρ of the sequence's two maps, every pair of tokens counting once")
SEQUENCE_SCOPE_SIMILARITY = Table(
    "sequence_scope_similarity",
    key=(LAYER, *_TWO_SCOPES, SEQ),
    source="kobayashi-2024",
    note="the narrower scope first",
    requires=("layer_completeness",),
    laws=("scope_a <> scope_b",),
    values={"spearman": replace(_ALIKE, least=-1, most=1)},
)


def _in_both_orders(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add every pair of two scopes with the wider one first."""
    exchanged = {"scope_a": "scope_b", "scope_b": "scope_a"}
    return pd.concat([pairs, pairs[pairs["scope_a"] != pairs["scope_b"]].rename(columns=exchanged)])


SCOPE_SIMILARITY = means(
    "scope_similarity",
    of=SEQUENCE_SCOPE_SIMILARITY,
    rows="""(
        with pair as (from sequence_scope_similarity where {some})
        select seq, layer, scope_a, scope_b, spearman from pair
        union all select seq, layer, scope, scope, 1 from (select distinct seq, layer from pair),
            (select distinct unnest([scope_a, scope_b]) as scope from pair))""",
    then=_in_both_orders,
    over=(LAYER,),
    note="in either order, each with itself too; means over sequences",
    laws=("scope_a <> scope_b or spearman = 1",),
    shown_as="scope_similarity_interval",
    views=(Part("scope_similarity", ("low", "high")),),
    values={"spearman": _ALIKE},
)

ATTENTION_ROLLOUT = "attention_rollout"
ROLLED = (*SCOPES, ATTENTION_ROLLOUT)
ROLLED_SCOPE = named(
    "the scope whose maps of one layer after the other are multiplied", ROLLED, "scope"
)
DISTANCE = replace(
    small(
        f"|i − j| from this number to below the next of {', '.join(map(str, DISTANCES))}",
        "tokens",
        name="distance",
    ),
    least=0,
)
_TOGETHER = (
    pooled(
        replace(TOKEN_TYPE, meaning="cls, sep, comma_period, other, register, bos or first"),
        "for all together",
    ),
    pooled(DISTANCE, "for all together"),
)
_SHARE = share(
    "share of a token after the layer that comes from these tokens of the model's input, mean over "
    "tokens",
    most=1 + 1e-4,
)
SEQUENCE_ROLLOUT = Table(
    "sequence_rollout",
    key=(LAYER, ROLLED_SCOPE, TOKEN_TYPE, DISTANCE, SEQ),
    source="abnar-2020",
    needs=(Need.EVERY_LAYER,),
    requires=("layer_completeness",),
    values={"share": _SHARE},
)
_FROM = share(
    "share that comes from these tokens of the model's input",
    most=1 + 1e-4,
    absent=0,
)
ROLLOUT = means(
    "rollout",
    of=SEQUENCE_ROLLOUT,
    rows="""(
        select seq, layer, scope, token_type, distance, sum(share) as mean
        from sequence_rollout where {some}
        group by grouping sets (
            (seq, layer, scope, token_type, distance), (seq, layer, scope, token_type),
            (seq, layer, scope, distance)))""",
    by=(LAYER, ROLLED_SCOPE, *_TOGETHER),
    note="by type, by distance and by both; means over sequences",
    values={"mean": _FROM},
)

VECTORS = "vectors"
"""Name in place of a scope: rollout by vectors, not by a product of maps."""
VECTOR_COMPLETENESS = Table(
    "vector_completeness",
    key=(SEQ, LAYER),
    source="modarressi-2023",
    note="of followed sequences",
    needs=(Need.EVERY_LAYER,),
    round_off=("relative_error",),
    depends_on=(Setting.CHECKED,),
    values={
        "relative_error": ratio(
            "largest distance of a token after the layer from the sum of the vectors that make it "
            "up, over the length of the token's own vector"
        ),
        "bias_share": share(
            "length of what no token of the input sent, over the lengths of all that makes up a "
            "token after the layer, mean over tokens"
        ),
    },
)
SEQUENCE_VECTOR_ROLLOUT = Table(
    "sequence_vector_rollout",
    key=(LAYER, TOKEN_TYPE, DISTANCE, SEQ),
    source="modarressi-2023",
    note="of followed sequences",
    needs=(Need.EVERY_LAYER,),
    requires=("vector_completeness",),
    depends_on=(Setting.CHECKED,),
    values={"share": _SHARE},
)
_FOLLOWED = f"""(
    select seq, layer, scope, token_type, distance, sum(share::double) as share
    from (
        select *, '{VECTORS}' as scope from sequence_vector_rollout
        union all by name
        select * replace (scope::varchar as scope)
        from sequence_rollout semi join sequence_vector_rollout using (seq))
    where {{some}}
    group by grouping sets (
        (seq, layer, scope, token_type), (seq, layer, scope, distance)))"""
_LESS = f"""(
    select * exclude share, share_of_vectors - share as share
    from (
        select *, max(share) filter (scope = '{VECTORS}') over (
            partition by seq, layer, token_type, distance) as share_of_vectors
        from {_FOLLOWED})
    where scope <> '{VECTORS}')"""
_ROLLED_KEY = (
    LAYER,
    named(
        f"{ROLLED_SCOPE.meaning}; vectors: none is, vectors are followed instead",
        (*ROLLED, VECTORS),
        "scope",
    ),
    *_TOGETHER,
)
_LESS_THAN = number(
    "mean share by vectors less mean share by this scope", "share", null="where it is by vectors"
)


def _beside_vectors(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return means by vectors and by scopes, with their differences in the same sequences; by hand,
    since means of one kind have no columns of another."""
    shares, less = (
        means(table.name, of=SEQUENCE_VECTOR_ROLLOUT, rows=rows, by=_ROLLED_KEY, values=values)
        for rows, values in (
            (_FOLLOWED, {"mean": replace(_FROM, sql="avg(share)")}),
            (_LESS, {"difference": replace(_LESS_THAN, sql="avg(share)", absent=0)}),
        )
    )
    ends = {"low": "difference_low", "high": "difference_high"}
    both = _frame(less, store, context).drop(columns="n_sequences").rename(columns=ends)
    key = [column.name for column in _ROLLED_KEY]
    return table.rows([_frame(shares, store, context).merge(both, on=key, how="left")])


VECTOR_ROLLOUT = Table(
    "vector_rollout",
    key=_ROLLED_KEY,
    source="modarressi-2023",
    note="of followed sequences, by type or by distance",
    needs=(Need.EVERY_LAYER,),
    requires=("sequence_vector_rollout", "sequence_rollout"),
    made_by=_beside_vectors,
    laws=("(token_type is null) <> (distance is null)",),
    values={
        **{name: ROLLOUT.values[name] for name in ("mean", "low", "high")},
        "difference": _LESS_THAN,
        **interval("share", of="difference"),
        "n_sequences": ROLLOUT.values["n_sequences"],
    },
)
_AS_VECTORS = correlation(
    "Spearman's ρ of shares by vectors and by the scope's multiplied maps, every pair of tokens "
    "counting once",
    least=-1 - 1e-6,
    most=1 + 1e-6,
)
SEQUENCE_VECTOR_AGREEMENT = Table(
    "sequence_vector_agreement",
    key=(LAYER, ROLLED_SCOPE, SEQ),
    source="modarressi-2023",
    note="of followed sequences",
    needs=(Need.EVERY_LAYER,),
    requires=("vector_completeness", "layer_completeness"),
    depends_on=(Setting.CHECKED,),
    values={"spearman": _AS_VECTORS},
)
VECTOR_AGREEMENT = means(
    "vector_agreement",
    of=SEQUENCE_VECTOR_AGREEMENT,
    over=(LAYER,),
    depends_on=(),
)
