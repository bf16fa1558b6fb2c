"""Relative position that each head prefers, and its agreement between attention and scores.

Offsets beyond 10 are no candidates, however long the texts: there is one row per head, and at most
20 rows per layer of agreement.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.offset_agreement import agreement as same_offset
from analysis.measures.positions.offset_agreement import (
    chance_agreement,
    layer_parts,
    preferred_offsets,
    rank_correlation,
)
from analysis.needs import Need
from analysis.statistics.columns import count, number, small, text
from analysis.statistics.fit import FitContext
from analysis.statistics.parts import OF_HEADS, part_columns, part_laws, part_values
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, LAYER, LAYER_OR_ALL, Column, Table, interval

REACH = 10


_MEANS = {
    "attention_offset": "attention",
    "score_offset": "value",
    "attention_offset_per_pair": "attention_per_pair",
    "score_offset_per_pair": "value_per_pair",
    "score_offset_centred": "value_centred",
}
"""Columns of `query_key_correlation_mean` with the largest values, by the offsets of these."""


def _offsets_of_heads(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    heads = store.sql(
        """
        select layer, head, avg(dependence) as dependence
        from sequence_relative_position
        group by layer, head
        order by layer, head
        """
    ).df()
    near = f'where abs("offset") <= {REACH}'
    means = store.sql(f"from query_key_correlation_mean {near}").df()
    kernels = store.sql(f"from position_kernel {near}").df()
    for name, quantity in _MEANS.items():
        heads = heads.merge(_largest(means, quantity, name), on=["layer", "head"])
    kernel = _largest(kernels, "kernel", "kernel_offset").astype({"kernel_offset": "Int64"})
    return rows_of(table, [heads.merge(kernel, on=["layer", "head"], how="left")])


def _largest(values: pd.DataFrame, quantity: str, name: str) -> pd.DataFrame:
    """Return every head with the offset of its largest value; it has none beyond its window."""
    wide = values.pivot(index=["layer", "head"], columns="offset", values=quantity)
    offsets = wide.columns.to_numpy().astype(np.int64)
    numbers = wide.fillna(-np.inf).to_numpy()
    preferred = preferred_offsets(numbers, offsets) if len(wide) else offsets
    return wide.index.to_frame(index=False).assign(**{name: preferred})


def _preferred(name: str, meaning: str) -> Column:
    return small(name, f"offset within ±{REACH} with the largest {meaning}", "tokens")


TABLE = Table(
    name="head_offset",
    grain="one row per layer and head",
    key=(LAYER, HEAD),
    values=(
        number(
            "dependence",
            "η²: share of the variance of α that the offset explains, mean over the texts where α "
            "varies; NULL if it varies in none",
            nullable=True,
        ),
        _preferred("attention_offset", "mean of tr_t(A)"),
        _preferred("score_offset", "mean of Σ_j s_j xcov_j(t)"),
        _preferred("attention_offset_per_pair", "mean α of a pair"),
        _preferred("score_offset_per_pair", "mean score of a pair"),
        _preferred("score_offset_centred", "mean of tr_t of scores less the mean of their row"),
        replace(
            _preferred(
                "kernel_offset", "score by position alone; NULL where no score knows an offset"
            ),
            nullable=True,
        ),
    ),
    source="yamamoto-2023",
    needs=(Need.OFFSETS,),
    laws=(
        "dependence is null or dependence between 0 and 1",
        f"greatest(abs(attention_offset), abs(score_offset)) <= {REACH}",
        f"greatest(abs(attention_offset_per_pair), abs(score_offset_per_pair)) <= {REACH}",
        f"abs(score_offset_centred) <= {REACH}",
        f"kernel_offset is null or abs(kernel_offset) <= {REACH}",
    ),
    version=3,
    requires=("relative_position_profile", "query_key_correlation", "position_kernel"),
    made_by=_offsets_of_heads,
    depends_on=(),
)


KERNEL = "kernel"
COUNTINGS = {
    "sum": ("score_offset", "attention_offset"),
    "per_pair": ("score_offset_per_pair", "attention_offset_per_pair"),
    "centred": ("score_offset_centred", "attention_offset"),
    KERNEL: ("kernel_offset", "attention_offset_per_pair"),
}
"""Ways of counting offsets, and the columns of `head_offset` that each compares."""


def countings(*, with_kernels: bool) -> list[str]:
    """Ways of counting, with that of kernels first where scores have a term for the offset."""
    others = [counting for counting in COUNTINGS if counting != KERNEL]
    return [KERNEL, *others] if with_kernels else others


MIN_DEPENDENCES = (0.0, 0.05, 0.1, 0.25, 0.5)


def _agreements(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows of each way of counting, least dependence, and layer or all, with two heads or more."""
    heads = store.sql("from head_offset order by layer, head").df()
    layers: list[int | None] = [*sorted(set(heads["layer"].tolist())), None]
    rows = []
    for (counting, columns), least, layer in product(COUNTINGS.items(), MIN_DEPENDENCES, layers):
        chosen = heads[heads["dependence"] >= least].dropna(subset=list(columns))
        chosen = chosen if layer is None else chosen[chosen["layer"] == layer]
        if len(chosen) >= 2:
            place = {"counting": counting, "min_dependence": least, "layer": layer}
            rows.append(place | _agreement(chosen, columns, context.seed))
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _agreement(heads: pd.DataFrame, columns: tuple[str, str], seed: int) -> dict[str, float]:
    scores, attention = (heads[name].to_numpy().astype("int64") for name in columns)
    numbers = {"n_heads": len(heads), "chance": chance_agreement(scores, attention)}
    of_ranks = rank_correlation(scores, attention, seed=seed)
    estimates = {"agreement": same_offset(scores, attention, seed=seed), "spearman": of_ranks}
    for name, estimate in estimates.items():
        ends = {f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        numbers |= {name: estimate.value} | ends
    if not np.isnan(of_ranks.value):
        parts = layer_parts(scores, attention, heads["layer"].to_numpy("int64"), seed=seed)
        numbers |= part_values(OF_HEADS, parts)
    return numbers


AGREEMENT = Table(
    name="offset_agreement",
    grain="one row per way of counting, least dependence and layer, or all layers pooled",
    key=(
        text(
            "counting",
            "sum (over all pairs of an offset), per_pair, centred (sums of scores less their row's "
            "mean) or kernel (scores by position alone, of models that turn queries and keys)",
            "name",
        ),
        number("min_dependence", "heads with a lower η² are left out"),
        LAYER_OR_ALL,
    ),
    values=(
        count("n_heads", "heads compared", "heads"),
        number("agreement", "share of the heads whose scores and attention prefer the same offset"),
        *interval("share", of="agreement"),
        number("chance", "agreement to expect if offsets were dealt to the heads at random"),
        number(
            "spearman",
            "Spearman's ρ of the two offsets over heads; NULL where either is the same for all",
            "ρ",
            nullable=True,
        ),
        *interval("ρ", of="spearman"),
        *part_columns(OF_HEADS),
    ),
    source="yamamoto-2023",
    needs=(Need.OFFSETS,),
    laws=(
        "n_heads >= 2",
        "agreement between 0 and 1",
        "chance between 0 and 1",
        "agreement_low <= agreement_high",
        "spearman is null or spearman between -1 and 1",
        "spearman is not null or spearman_low is null",
        *part_laws(OF_HEADS),
    ),
    version=4,
    requires=("head_offset",),
    made_by=_agreements,
    depends_on=(),
)
