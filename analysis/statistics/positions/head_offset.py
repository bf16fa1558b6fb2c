"""The relative position each head prefers, in its attention and in its scores."""

from dataclasses import replace

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, small
from analysis.statistics.question import frame_of
from analysis.statistics.table import HEAD, LAYER, Column, Table

REACH = 10


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
    depends_on=(),
)


def heads(store: DuckDBPyConnection) -> pd.DataFrame:
    """Preferred offsets of every head, and the share of variance that position explains: layer,
    head, dependence, attention_offset, score_offset, attention_offset_per_pair,
    score_offset_per_pair, score_offset_centred, kernel_offset (NULL in models without offsets in
    scores)."""
    return frame_of(store, "from head_offset order by layer, head")
