"""Numbers for comparing files, by sequence (or head) and layer.

A file's number is the mean over its sequences, and a sequence's number the mean over its layers: so
the difference of two files is the mean difference of their sequences.
"""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.scopes import ORDERS
from analysis.sinks import FIRST, RATE_ROUNDING, USUAL_THRESHOLD
from analysis.statistics import norms, sinks
from analysis.statistics.corpus import provenance
from analysis.statistics.heads.single_heads import SEQUENCE_HEAD_PATTERN
from analysis.statistics.mixing import SEQUENCE_MIXING_RATIO, SEQUENCE_SCOPE_SIMILARITY
from analysis.statistics.positions.attention import HEAD_OFFSET
from analysis.statistics.question import frame_of

TABLES = (
    SEQUENCE_MIXING_RATIO,
    SEQUENCE_HEAD_PATTERN,
    SEQUENCE_SCOPE_SIMILARITY,
    norms.HEAD_TOKEN,
    sinks.SEQUENCE_SINK,
    HEAD_OFFSET,
)
"""Tables that provide the numbers."""
ALL_LAYERS = 0
"""Layer number that stands for the mean over all layers."""
OF_HEADS = ("offset_agreement",)
"""Numbers that are means over heads; all others are means over sequences."""
_SPECIAL = ("first", "cls", "sep")
_SINKS = ("sink_rate", "sink_weight", "sink_norm")
_HABITS = ("previous", "next", "breadth")
NUMBERS = (
    *("ratio_weights", "ratio_vectors", "ratio_residual", "ratio_network", "ratio_whole"),
    *("similarity_network", "similarity_whole"),
    *(f"{place}_{weighing}" for place in (*_SPECIAL, "rest") for weighing in ("weight", "norm")),
    "correlation",
    *_SINKS,
    *_HABITS,
    *OF_HEADS,
)
"""All numbers in the order of display."""
_RATIOS = """
    select $names[list_position($scopes, scope)] as number, seq as unit, layer::int as layer,
        mean as value
    from sequence_mixing_ratio
    where token_type = 'all' and list_contains($scopes, scope)
    order by all
"""
"""Mixing ratios at the scopes that layers of all orders have."""
_SIMILARITIES = """
    select if(scope_a = $weights, 'similarity_whole', 'similarity_network') as number,
        seq as unit, layer::int as layer, spearman as value
    from sequence_scope_similarity
    where spearman is not null and ((scope_a = $weights and scope_b = $whole)
        or (scope_a = $before and scope_b = $network))
    order by all
"""
"""Spearman's ρ of mixing before and after the network, and of weights and whole layers."""
_CORRELATIONS = """
    with of_head as (
        select seq, layer, corr(ln(attention_received), ln(value_norm)) as value
        from head_token
        where attention_received > 0 and value_norm > 0
            and token_type in ('other', 'comma_period')
        group by seq, layer, head
    )
    select 'correlation' as number, seq as unit, layer::int as layer, avg(value) as value
    from of_head
    where value is not null and isfinite(value)
    group by all
    order by all
"""
"""Pearson's r, over the tokens of a text, of the logarithms of the attention that a token receives
and of its ‖f(x)‖: mean over heads. Special and first tokens are left out.

With them it would tell that these get much attention and have short vectors. The ρ of the paper is
of all pairs of a corpus together, and has no value of a sequence.
"""
_OF_SINKS = f"""
    unpivot (
        select seq as unit, layer::int as layer,
            avg((attention::double > {USUAL_THRESHOLD} + {RATE_ROUNDING})::int) as sink_rate,
            avg(attention::double) as sink_weight, avg(norm_share::double) as sink_norm
        from sequence_sink
        where place = '{FIRST}'
        group by all
    )
    on {", ".join(_SINKS)} into name number value value
    order by all
"""
"""Sink shares, attention to the first token, which models of every kind have, and the norm that
arrives from it."""
_OFFSETS = """
    select 'offset_agreement' as number, layer::int * 1000 + head as unit,
        layer::int as layer, (score_offset = attention_offset)::int::double as value
    from head_offset
    order by all
"""
"""1 for heads whose scores and attention prefer the same offset, else 0."""


def unit_values(store: DuckDBPyConnection) -> pd.DataFrame:
    """Return all numbers of every sequence or head of a file: number, unit, layer, value.

    A number without values in the file has no rows.
    """
    order = ORDERS[provenance(store)["layer_order"]]
    scopes = {
        "ratio_weights": order.scopes[0],
        "ratio_vectors": order.vectors,
        "ratio_residual": order.with_residual,
        "ratio_network": order.network,
        "ratio_whole": order.whole,
    }
    compared = {"weights": order.scopes[0], "whole": order.whole}
    compared |= {"before": order.before_network, "network": order.network}
    parts = [
        frame_of(store, _RATIOS, {"names": list(scopes), "scopes": list(scopes.values())}),
        frame_of(store, _SIMILARITIES, compared),
        _habits(store),
        *(frame_of(store, sql) for sql in (_CORRELATIONS, _OF_SINKS, _OFFSETS)),
    ]
    columns = ["number", "unit", "layer", "value"]
    return pd.concat([part[columns] for part in parts], ignore_index=True)


def by_unit(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of `unit_values` as a matrix: a row per unit, a column per number and layer.

    The mean over the layers of a unit stands under `ALL_LAYERS`.
    """
    wide = rows.pivot(index="unit", columns=["number", "layer"], values="value")
    means = wide.T.groupby(level="number").mean().T
    means.columns = pd.MultiIndex.from_product(
        [means.columns, [ALL_LAYERS]], names=["number", "layer"]
    )
    return pd.concat([means, wide], axis=1).sort_index(axis=1)


def _habits(store: DuckDBPyConnection) -> pd.DataFrame:
    """Return mean attention shares and entropy over heads, by weights and by norms."""
    rows = frame_of(
        store,
        """
        select weighing, seq as unit, layer::int as layer, avg(first::double) as first,
            avg(cls::double) as cls, avg(sep::double) as sep, avg(previous::double) as previous,
            avg(next::double) as next, avg(entropy::double / nullif(uniform, 0)) as breadth
        from sequence_head_pattern_weighing
        group by all
        order by all
        """,
    )
    there = [name for name in _SPECIAL if rows[name].notna().any()]
    shares = rows[there].fillna(0.0)
    if there:
        shares = shares.assign(rest=1 - shares.sum(axis=1))
    names = rows[["unit", "layer"]]
    parts = [
        names.assign(number=f"{name}_" + rows["weighing"].astype(str), value=values)
        for name, values in shares.items()
    ]
    by_weights = rows["weighing"] == "weight"
    parts += [
        names[by_weights].assign(number=name, value=rows.loc[by_weights, name]) for name in _HABITS
    ]
    return pd.concat(parts, ignore_index=True).dropna(subset="value")
