"""Sampled pairs with their weights and norms, against the bare traces."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from analysis.measures.norms.attention_norm_sample import SAMPLE
from analysis.models.trace import Trace
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch
from precompute.passes.norms import attention_norm_sample
from tests.reference.norms.norm_weighted_attention import vectors
from tests.tiny import HEADS, LAYERS

Places = list[tuple[int, int, int]]


@pytest.fixture(scope="module")
def drawn(sequences, traced) -> pd.DataFrame:
    return attention_norm_sample.totals(Batch(sequences, traced)).to_pandas()


@pytest.fixture(scope="module")
def places(sequences, traced_alone) -> Callable[[str], Places]:
    """Sequence, query and key of every pair that there is with a key of some type."""

    def of_type(name: str) -> Places:
        return [
            (seq, int(query), int(key))
            for seq, (sequence, trace) in enumerate(zip(sequences, traced_alone, strict=True))
            for query, key in trace.layers[0].weights.pairs(len(sequence)).nonzero().tolist()
            if TOKEN_TYPES[sequence.token_types[key]] == name
        ]

    return of_type


def _lengths(trace: Trace) -> list[list[list[float]]]:
    """‖f(x)‖ by layer, head and token."""
    return [
        [
            np.linalg.norm(vectors(layer.attention_input[0].tolist(), *parts), axis=1).tolist()
            for parts in zip(
                *(
                    getattr(layer.weights, name).tolist()
                    for name in ("value_weight", "value_bias", "output_weight")
                ),
                strict=True,
            )
        ]
        for layer in trace.layers
    ]


def test_every_pair_has_its_weight_and_the_length_of_what_is_attended_to(drawn, traced_alone):
    lengths = [_lengths(trace) for trace in traced_alone]
    for row in drawn.itertuples():
        layer = traced_alone[row.seq].layers[row.layer]
        weight = layer.attention[0, row.head, row.query_pos, row.key_pos].item()
        assert row.attention == pytest.approx(weight, rel=1e-5, abs=1e-9)
        length = lengths[row.seq][row.layer][row.head][row.key_pos]
        assert row.value_norm == pytest.approx(length, rel=1e-5)


def test_every_type_that_there_is_has_as_many_pairs_of_every_head(drawn, places):
    there = {name for name in TOKEN_TYPES if places(name)}
    strata = drawn.groupby(["layer", "head", "token_type"], observed=True).size()
    assert len(strata) == LAYERS * HEADS * len(there)
    assert set(strata) == {SAMPLE}
    assert set(drawn["token_type"]) == there


def test_all_pairs_of_a_type_are_drawn_alike(drawn, places):
    """Each head has its own draw, so a pair with chance 1/n is drawn about as often as others."""
    for name, rows in drawn.groupby("token_type", observed=True):
        there = places(name)
        found = rows[["seq", "query_pos", "key_pos"]].itertuples(index=False, name=None)
        counts = pd.Series(list(found)).value_counts()
        assert set(counts.index) <= set(there)
        by_pair = counts.reindex(pd.Index(there, tupleize_cols=False), fill_value=0).to_numpy()
        groups = [part.sum() for part in np.array_split(by_pair, 12)]
        sizes = np.array([len(part) for part in np.array_split(by_pair, 12)])
        kept = sizes > 0
        expected = sizes[kept] * len(rows) / len(there)
        assert chisquare(np.array(groups)[kept], expected).pvalue > 1e-4, name


def test_another_seed_draws_other_pairs(sequences: tuple[Sequence, ...], traced, drawn):
    other = attention_norm_sample.totals(Batch(sequences, traced, seed=1)).to_pandas()
    columns = ["seq", "query_pos", "key_pos"]
    assert (other[columns].to_numpy() != drawn[columns].to_numpy()).any()
