"""All public views: their functions here, the keys of their rows, and their tolerances."""

from collections.abc import Callable
from dataclasses import dataclass

import duckdb
import pandas as pd

from tests.outermost import (
    bookkeeping,
    head_distances,
    heads,
    mixing,
    norms,
    pairs,
    positions,
    probing,
    relevance,
    sinks,
    turned,
)
from tests.outermost.comparison import ROUNDING, Comparison, compared, stored_rows
from tests.outermost.corpus import Corpus

Store = duckdb.DuckDBPyConnection
EXACT = 0.0
AT_EDGES = 1e-3
"""Largest error of ρ where a value at the edge of a bin, or near a tie, falls to either side."""


@dataclass(frozen=True)
class View:
    """Recomputation and comparison of a view.

    `rows` is the query for the compared rows, if that is not the whole view.
    """

    name: str
    expected: Callable[[Corpus, Store], pd.DataFrame]
    keys: tuple[str, ...]
    tolerance: float = ROUNDING
    rows: str | None = None
    absolute: bool = False

    def compare(self, corpus: Corpus, store: Store) -> Comparison:
        expected = self.expected(corpus, store)
        return self.compared(expected, self.stored(store, list(expected.columns)))

    def stored(self, store: Store, columns: list[str]) -> pd.DataFrame:
        """Rows of the file's view."""
        return (
            store.sql(self.rows).df()[columns]
            if self.rows
            else stored_rows(store, self.name, columns)
        )

    def compared(self, expected: pd.DataFrame, stored: pd.DataFrame) -> Comparison:
        settings = {"tolerance": self.tolerance, "absolute": self.absolute}
        return compared(self.name, expected, stored, keys=list(self.keys), **settings)


def _of_corpus(function: Callable[[Corpus], pd.DataFrame]) -> Callable:
    return lambda corpus, store: function(corpus)


def _maps(corpus: Corpus, store: Store) -> pd.DataFrame:
    kept = store.execute("select distinct seq from relevance_map order by seq").fetchall()
    return relevance.relevance_map(corpus, [seq for (seq,) in kept])


_OTHERS = "rule <> 'gradient_attention'"
_HEAD, _TYPE = ("layer", "head"), ("layer", "head", "token_type")
_PLACE = ("place", "quantity")
VIEWS = (
    View("run", bookkeeping.run, ("family",), EXACT),
    View("sequence", _of_corpus(bookkeeping.sequence), ("seq",), EXACT),
    View("token", _of_corpus(bookkeeping.token), ("seq", "pos"), EXACT),
    View("value_norm_dispersion", _of_corpus(norms.value_norm_dispersion), _HEAD),
    View("input_norm_dispersion", _of_corpus(norms.input_norm_dispersion), ("layer",)),
    View("attention_norm_correlation", _of_corpus(norms.binned_correlation), _TYPE, AT_EDGES),
    View(
        "frequency_correlation",
        _of_corpus(norms.frequency_correlation),
        ("source", "quantity", "special_tokens"),
        rows="from frequency_correlation where source = 'corpus'",
        absolute=True,  # equal words at equal places of a causal model are ties but for rounding
    ),
    View("token_norm", _of_corpus(norms.token_norm), ("seq", "pos", "layer")),
    View("head_token", _of_corpus(norms.head_token), ("seq", "pos", "layer", "head")),
    View(
        "attention_norm_sample",
        norms.attention_norm_sample,
        (*_HEAD, "seq", "query_pos", "key_pos"),
        rows="select distinct layer, head, seq, query_pos, key_pos, attention, value_norm "
        "from attention_norm_sample",
    ),
    View("token_type_mixing", _of_corpus(norms.token_type_mixing), _TYPE),
    View(
        "token_type_interval",
        _of_corpus(norms.norm_shares),
        _TYPE,
        rows="select layer, head, token_type::varchar as token_type, mean "
        "from token_type_interval where quantity = 'norm_share'",
    ),
    View("singular_value", _of_corpus(norms.singular_value), ("layer", "head", "rank")),
    View("head_pattern_weighing", _of_corpus(heads.head_pattern), ("weighing", *_HEAD, "quantity")),
    View(
        "head_pattern_difference",
        _of_corpus(heads.head_pattern_difference),
        (*_HEAD, "quantity"),
        absolute=True,
    ),
    View(
        "head_distance_weighing",
        _of_corpus(head_distances.head_distance),
        ("weighing", "layer_a", "head_a", "layer_b", "head_b"),
    ),
    View("head_linkage_weighing", _of_corpus(head_distances.head_linkage), ("weighing", "step")),
    View(
        "layer_cohesion_weighing",
        _of_corpus(head_distances.layer_cohesion),
        ("weighing", "layer"),
    ),
    View("head_distance_agreement", _of_corpus(head_distances.head_distance_agreement), _HEAD),
    View("gradient_importance", _of_corpus(heads.gradient_importance), _TYPE, 1e-4),
    View(
        "relative_position_profile",
        _of_corpus(positions.relative_position_profile),
        (*_HEAD, "offset"),
    ),
    View(
        "position_spectrum",
        _of_corpus(positions.position_spectrum),
        ("source", "layer", "frequency"),
    ),
    View(
        "position_spectrum_control",
        _of_corpus(positions.position_spectrum_control),
        ("control", "source", "layer", "length", "frequency"),
        rows="select * replace (control::varchar as control, source::varchar as source) "
        "from position_spectrum_control where control in ('kept', 'compared')",
    ),
    View("head_offset", _of_corpus(positions.head_offset), _HEAD),
    View(
        "query_key_singular_value",
        _of_corpus(positions.query_key_singular_value),
        (*_HEAD, "rank"),
    ),
    View(
        "exemplar_attention",
        positions.exemplar_attention,
        ("seq", *_HEAD, "cell"),
        rows="select seq, layer, head, unnest(range(n * n)) as cell, "
        "unnest(attention)::double as attention from exemplar_attention",
    ),
    View("position_variance", _of_corpus(positions.position_variance), ("component",)),
    View(
        "query_key_correlation_mean",
        _of_corpus(positions.query_key_correlation),
        (*_HEAD, "offset"),
    ),
    View(
        "relevance_summary",
        _of_corpus(relevance.relevance_summary),
        ("rule", *_HEAD),
        rows="select rule::varchar as rule, * exclude (rule) from relevance_summary "
        f"where {_OTHERS}",
    ),
    View(
        "relevance_map",
        _maps,
        ("seq", "rule", *_HEAD, "pos"),
        rows=f"""
            select seq, rule::varchar as rule, layer, head,
                unnest(range(len(relevance))) as pos, unnest(relevance)::double as relevance
            from relevance_map where {_OTHERS}
        """,
    ),
    View(
        "head_layout",
        head_distances.head_layout,
        _HEAD,
        1e-4,
        rows="select layer, head, stress from head_layout_stress",
    ),
    View("relative_position_cluster", positions.relative_position_cluster, (*_HEAD, "cluster")),
    View(
        "dependency_accuracy_weighing",
        probing.dependency_accuracy,
        (*probing.CELL, "relation", "direction"),
        1e-9,
    ),
    View("dependency_baseline", probing.dependency_baseline, ("relation", "offset"), 1e-9),
    View(
        "coreference_accuracy_weighing",
        probing.coreference_accuracy,
        (*probing.CELL, "method", "mention_type"),
        1e-9,
        rows="select * replace (mention_type::varchar as mention_type, method::varchar as method, "
        "weighing::varchar as weighing, merging::varchar as merging) "
        "from coreference_accuracy_weighing where method <> 'sieve'",
    ),
    View("completeness", _of_corpus(mixing.completeness), ("layer",), 1e-3, absolute=True),
    View("scope_similarity", _of_corpus(mixing.scope_similarity), ("layer", "scope_a", "scope_b")),
    View(
        "mixing_ratio",
        _of_corpus(mixing.mixing_ratio),
        ("layer", "scope", "token_type"),
        absolute=True,  # shares; of a causal model's first token 0 but for rounding
    ),
    View("rotary_plane", _of_corpus(turned.rotary_plane), (*_HEAD, "plane")),
    View("position_kernel", _of_corpus(turned.position_kernel), (*_HEAD, "offset")),
    View("score_share", _of_corpus(turned.score_share), _HEAD),
    View("sink", _of_corpus(sinks.sink), (*_HEAD, *_PLACE)),
    View("no_token", _of_corpus(sinks.no_token), (*_HEAD, "quantity")),
    View("sink_rate", _of_corpus(sinks.sink_rate), ("layer", *_PLACE, "threshold"), absolute=True),
    View("sink_score", _of_corpus(sinks.sink_score), (*_HEAD, *_PLACE), absolute=True),
    View("massive_activation", _of_corpus(sinks.massive_activation), ("depth", *_PLACE)),
    View(
        "massive_coordinate",
        _of_corpus(sinks.massive_coordinate),
        ("depth", *_PLACE, "coordinate"),
    ),
    View("rollout", _of_corpus(mixing.rollout), ("layer", "scope", "token_type", "distance")),
    View("token_mixing_ratio", _of_corpus(mixing.token_mixing_ratio), ("scope", "seq", "pos")),
    View(
        "ratio_frequency_correlation",
        _of_corpus(mixing.ratio_frequency_correlation),
        ("source", "scope", "special_tokens"),
        AT_EDGES,
        rows="from ratio_frequency_correlation where source = 'corpus'",
        absolute=True,
    ),
    View("pair", _of_corpus(pairs.pair), ("source", "target")),
    View(
        "relation_share",
        _of_corpus(pairs.relation_share),
        ("layer", "effect", "quantity", "relation"),
    ),
    View(
        "pair_pmi_correlation",
        _of_corpus(pairs.pair_pmi_correlation),
        ("layer", "effect", "quantity", "window_size", "min_count"),
        1e-6,
        absolute=True,
    ),
    View("pair_delta", _of_corpus(pairs.pair_delta), ("layer", "effect", "source", "target")),
    View("pair_delta_wide", _of_corpus(pairs.pair_delta_wide), ("layer", "source", "target"), 1e-4),
)
