"""All public views: their functions here, the keys of their rows, and their tolerances."""

from collections.abc import Callable
from inspect import signature
from typing import NamedTuple

import duckdb
import pandas as pd

from tests.outermost import heads, mixing, norms, pairs, positions, probing, relevance, sinks
from tests.outermost.comparison import ROUNDING, Comparison, compared, stored_rows
from tests.outermost.corpus import Corpus, sequence, token

Store = duckdb.DuckDBPyConnection
EXACT = 0.0
AT_EDGES = 1e-3
"""Largest error of ρ where a value at the edge of a bin, or near a tie, falls to either side."""


class View(NamedTuple):
    """Recomputation and comparison of a view.

    `expected` takes the corpus, and the file too if it has to know what was drawn or kept. `where`
    chooses the compared rows; `rows` is the query for them if they are not those of the view.
    """

    name: str
    expected: Callable[..., pd.DataFrame]
    keys: tuple[str, ...]
    tolerance: float = ROUNDING
    where: str = "true"
    rows: str | None = None
    absolute: bool = False

    def recomputed(self, corpus: Corpus, store: Store) -> pd.DataFrame:
        takes_store = len(signature(self.expected).parameters) > 1
        return self.expected(corpus, store) if takes_store else self.expected(corpus)

    def stored(self, store: Store, columns: list[str]) -> pd.DataFrame:
        """Rows of the file."""
        return stored_rows(store, self.rows or f'from "{self.name}" where {self.where}', columns)

    def compared(self, expected: pd.DataFrame, stored: pd.DataFrame) -> Comparison:
        settings = {"tolerance": self.tolerance, "absolute": self.absolute}
        return compared(self.name, expected, stored, keys=list(self.keys), **settings)


_OTHERS = "rule <> 'gradient_attention'"
_HEAD, _TYPE = ("layer", "head"), ("layer", "head", "token_type")
_PLACE = ("place", "quantity")
VIEWS = (
    View("sequence", sequence, ("seq",), EXACT),
    View("token", token, ("seq", "pos"), EXACT),
    View("value_norm_dispersion", norms.value_norm_dispersion, _HEAD),
    View("input_norm_dispersion", norms.input_norm_dispersion, ("layer",)),
    View("attention_norm_correlation", norms.binned_correlation, _TYPE, AT_EDGES),
    View("token_norm", norms.token_norm, ("seq", "pos", "layer")),
    View("head_token", norms.head_token, ("seq", "pos", "layer", "head")),
    View(
        "attention_norm_sample",
        norms.attention_norm_sample,
        (*_HEAD, "seq", "query_pos", "key_pos"),
        rows="select distinct layer, head, seq, query_pos, key_pos, attention, value_norm "
        "from attention_norm_sample",
    ),
    View("token_type_mixing", norms.token_type_mixing, _TYPE),
    View("token_type_interval", norms.norm_shares, _TYPE, where="quantity = 'norm_share'"),
    View("singular_value", norms.singular_value, ("layer", "head", "rank")),
    View("head_pattern_weighing", heads.head_pattern, ("weighing", *_HEAD, "quantity")),
    View(
        "head_distance_weighing",
        heads.head_distance,
        ("weighing", "layer_a", "head_a", "layer_b", "head_b"),
    ),
    View("layer_cohesion_weighing", heads.layer_cohesion, ("weighing", "layer")),
    View("head_distance_agreement", heads.head_distance_agreement, _HEAD),
    View("relative_position_profile", positions.relative_position_profile, (*_HEAD, "offset")),
    View("position_spectrum", positions.position_spectrum, ("source", "layer", "frequency")),
    View("head_offset", positions.head_offset, _HEAD),
    View("query_key_singular_value", positions.query_key_singular_value, (*_HEAD, "rank")),
    View("position_variance", positions.position_variance, ("component",)),
    View("query_key_correlation_mean", positions.query_key_correlation, (*_HEAD, "offset")),
    View(
        "relevance_map",
        relevance.relevance_map,
        ("seq", "rule", *_HEAD, "pos"),
        rows=f"""
            select seq, rule, layer, head,
                unnest(range(len(relevance))) as pos, unnest(relevance)::double as relevance
            from relevance_map where {_OTHERS}
        """,
    ),
    View(
        "dependency_accuracy_weighing",
        probing.dependency_accuracy,
        (*probing.CELL, "relation", "direction"),
        1e-9,
    ),
    View(
        "coreference_accuracy_weighing",
        probing.coreference_accuracy,
        (*probing.CELL, "method", "mention_type"),
        1e-9,
        where="method <> 'sieve'",
    ),
    View("scope_similarity", mixing.scope_similarity, ("layer", "scope_a", "scope_b")),
    View(
        "mixing_ratio",
        mixing.mixing_ratio,
        ("layer", "scope", "token_type"),
        absolute=True,  # shares; of a causal model's first token 0 but for rounding
    ),
    View("rotary_plane", positions.rotary_plane, (*_HEAD, "plane")),
    View("position_kernel", positions.position_kernel, (*_HEAD, "offset")),
    View("score_share", positions.score_share, _HEAD),
    View("sink", sinks.sink, (*_HEAD, *_PLACE)),
    View("no_token", sinks.no_token, (*_HEAD, "quantity")),
    View("sink_rate", sinks.sink_rate, ("layer", *_PLACE, "threshold"), absolute=True),
    View("sink_score", sinks.sink_score, (*_HEAD, *_PLACE), absolute=True),
    View("massive_activation", sinks.massive_activation, ("depth", *_PLACE)),
    View("rollout", mixing.rollout, ("layer", "scope", "token_type", "distance")),
    View("token_mixing_ratio", mixing.token_mixing_ratio, ("scope", "seq", "pos")),
    View(
        "ratio_frequency_correlation",
        mixing.ratio_frequency_correlation,
        ("source", "scope", "special_tokens"),
        AT_EDGES,
        where="source = 'corpus'",
        absolute=True,
    ),
    View("pair", pairs.pair, ("source", "target")),
    View("relation_share", pairs.relation_share, ("layer", "effect", "quantity", "relation")),
    View(
        "pair_pmi_correlation",
        pairs.pair_pmi_correlation,
        ("layer", "effect", "quantity", "window_size", "min_count"),
        1e-6,
        absolute=True,
    ),
    View("pair_delta_wide", pairs.pair_delta_wide, ("layer", "source", "target"), 1e-4),
)
