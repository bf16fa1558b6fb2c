"""Rank correlation over heads of each measure with the effect of a head, beside chance.

Relevance is no such measure: what is carried back through a head sums to 1 for every head, so that
a head's map has a place and a breadth, and no amount to compare heads by.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.effects import CHANGES, FILLINGS, LEVELS, MEASURES, RANDOM
from analysis.measures.heads.effect_prediction import (
    Draws,
    OfHeads,
    chance,
    rank_correlations,
)
from analysis.statistics.columns import count, named, number
from analysis.statistics.fit import FitContext
from analysis.statistics.question import quoted
from analysis.statistics.rows import rows_of
from analysis.statistics.table import LAYER, Table, interval, nullable
from analysis.token_types import TOKEN_TYPES

SINKS = tuple(name for name in TOKEN_TYPES if name not in ("comma_period", "other"))
OF_HEADS = f"""
    with weights as (
        select layer, head,
            sum(attention) filter (token_type not in ({quoted(*SINKS)})) as weight,
            sum(weighted_norm) as weighted_norm
        from token_type_mixing where head is not null group by layer, head
    ),
    parts as (
        pivot (select layer, head, quantity, mean from contribution where head is not null)
        on quantity in ('norm', 'share', 'length') using any_value(mean) group by layer, head
    ),
    slopes as (
        select layer, head, sum(importance) as gradient
        from gradient_importance where head is not null group by layer, head
    )
    select layer, head, {", ".join(f"{name}::double as {name}" for name in MEASURES)}
    from weights join parts using (layer, head)
    left join slopes using (layer, head)
"""
"""Every head with all of `MEASURES`, NULL where the file lacks one, as SQL."""
_EFFECTS = """
    select filling::varchar as filling, quantity::varchar as quantity, layer, head, mean
    from head_effect where head is not null
"""


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    heads, effects = store.sql(OF_HEADS).df(), store.sql(_EFFECTS).df()
    if effects.empty:
        return rows_of(table, [])
    layers = sorted(heads["layer"].unique())
    draws = Draws.of((len(layers), heads["head"].nunique()), seed=context.seed)

    def of_heads(frame: pd.DataFrame, column: str) -> OfHeads:
        return OfHeads(frame.pivot(index="layer", columns="head", values=column).to_numpy(), draws)

    measures = {name: of_heads(heads, name) for name in MEASURES if heads[name].notna().all()}
    frames = []
    for (filling, quantity), of_kind in effects.groupby(["filling", "quantity"]):
        effect = of_heads(of_kind, "mean")
        found = {name: rank_correlations(of, effect) for name, of in measures.items()}
        for name, correlations in {**found, RANDOM: chance(effect)}.items():
            n_heads, n_all = effect.values.shape[1], effect.values.size
            frame = pd.DataFrame(
                {
                    "level": ["layer"] * len(layers) + [*LEVELS[1:]],
                    "layer": pd.array([*layers, None, None, None], dtype="UInt8"),
                    "spearman": correlations.spearman,
                    "low": correlations.low,
                    "high": correlations.high,
                    "n": [n_heads] * len(layers) + [n_all, len(layers), n_all],
                }
            )
            frame = frame.assign(filling=filling, quantity=quantity, measure=name)
            frames.append(frame[np.isfinite(frame["spearman"])])
    return rows_of(table, frames)


_MEANINGS = (
    "weight (mean attention weight on tokens that are not special, registers or the first), "
    "weighted_norm (Σ‖αf(x)‖), norm (‖Σαf(x)‖), share and length (of what it brings in the layer's "
    "update, signed and not), gradient (|∂L/∂α| summed over tokens), and random (the effect of a "
    "random head of the layer)"
)
TABLE = Table(
    name="effect_prediction",
    grain="one row per filling, quantity of the effect, measure, and heads that are ranked",
    key=(
        named("filling", f"what stands in place of a head: {' or '.join(FILLINGS)}"),
        named("quantity", f"quantity of the effect: {', '.join(CHANGES)}"),
        named("measure", _MEANINGS),
        named(
            "level",
            "heads of one layer; the mean of these over layers (within); layers by the mean of "
            "their heads (between); or all heads",
        ),
        nullable(LAYER, "layer, counted from 1; NULL: the level has no single layer"),
    ),
    values=(
        number("spearman", "Spearman's ρ of measure and effect over heads or layers", "ρ"),
        *interval("ρ"),
        count("n", "heads or layers that are ranked", "heads or layers"),
    ),
    source="michel-2019",
    requires=("head_effect", "contribution", "token_type_mixing", "gradient_importance"),
    made_by=_rows,
    laws=(
        "spearman between -1 - 1e-9 and 1 + 1e-9",
        "low <= high",
        f"level in ({quoted(*LEVELS)})",
        "(level = 'layer') = (layer is not null)",
    ),
    depends_on=(),
    version=2,
)
