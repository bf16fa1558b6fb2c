"""Stored attention and scores by relative position agree with the model itself."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.models.trace import Trace
from analysis.statistics.positions import (
    exemplar_attention,
    query_key_correlation,
    relative_position_profile,
)
from tests.reference.positions import query_key_correlation as reference_scores
from tests.reference.positions import relative_position_profile as reference
from tests.tiny import HEADS, LAYERS

HEAD_PLACES = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


def rows(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())


def maps(traces: dict[int, Trace], layer: int, head: int) -> list[list[list[float]]]:
    """The attention of one head in every sequence."""
    return [trace.layers[layer].attention[0, head].tolist() for trace in traces.values()]


def _offsets(reach: int, *, is_causal: bool) -> list[int]:
    return list(range(-reach, 1 if is_causal else reach + 1))


@pytest.mark.parametrize(("layer", "head"), HEAD_PLACES)
def test_profiles_are_means_over_texts_of_sums_along_diagonals(
    position_store, position_traces, is_causal, layer, head
):
    place = {"layer": layer + 1, "head": head + 1}
    view = position_store.execute(
        'select "offset", attention from relative_position_profile '
        'where layer = $layer and head = $head order by "offset"',
        place,
    ).fetchall()
    profile = relative_position_profile.of_head(position_store, **place)
    every = relative_position_profile.all_heads(position_store)
    every = every[(every["layer"] == layer + 1) & (every["head"] == head + 1)]
    of_head = maps(position_traces, layer, head)
    assert [offset for offset, _ in view] == _offsets(10, is_causal=is_causal)
    for (offset, attention), row, of_all in zip(
        view, rows(profile), every["attention"], strict=True
    ):
        sums = np.array([reference.diagonal_sum(matrix, offset) for matrix in of_head])
        shares = sums / [len(matrix) for matrix in of_head]
        assert attention == pytest.approx(sums.mean(), rel=1e-5, abs=1e-7)
        assert row.offset == offset
        assert row.mean == of_all == pytest.approx(shares.mean(), rel=1e-5, abs=1e-7)
        quartiles = np.quantile(shares, [0.25, 0.75])
        np.testing.assert_allclose([row.q25, row.q75], quartiles, rtol=1e-5, atol=1e-7)
        assert row.n_sequences == len(of_head)


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 2)])
def test_scores_and_attention_are_means_over_texts(
    position_store, position_traces, is_causal, layer, head
):
    correlation = query_key_correlation.of_head(position_store, layer=layer + 1, head=head + 1)
    longest = max(trace.is_token.shape[1] for trace in position_traces.values()) - 1
    assert correlation["offset"].tolist() == _offsets(longest, is_causal=is_causal)
    weights = next(iter(position_traces.values())).layers[layer].weights
    scores = [
        reference_scores.scores(trace.layers[layer].attention_input[0], weights, head).tolist()
        for trace in position_traces.values()
    ]
    for row in rows(correlation):
        for matrices, of_sums, of_pairs in (
            (scores, row.value, row.value_per_pair),
            (maps(position_traces, layer, head), row.attention, row.attention_per_pair),
        ):
            sums = [reference.diagonal_sum(matrix, row.offset) for matrix in matrices]
            pairs = [
                total / (len(matrix) - abs(row.offset))
                for total, matrix in zip(sums, matrices, strict=True)
                if len(matrix) > abs(row.offset)
            ]
            assert of_sums == pytest.approx(np.mean(sums), rel=1e-4, abs=1e-5)
            assert of_pairs == pytest.approx(np.mean(pairs), rel=1e-4, abs=1e-5)
            assert row.n_sequences == len(pairs)
        centred = [reference_scores.row_centred(matrix, is_causal=is_causal) for matrix in scores]
        sums = [reference.diagonal_sum(matrix, row.offset) for matrix in centred]
        assert row.value_centred == pytest.approx(np.mean(sums), rel=1e-4, abs=1e-4)


def test_kept_maps_show_the_first_tokens_of_the_longest_texts(
    position_store, position_run, position_traces
):
    kept = position_run[1].exemplars
    assert len(kept) == 4
    for sequence in position_run[1].corpus:
        cells = exemplar_attention.of_head(position_store, layer=2, head=1, seq=sequence.index)
        n = min(15, len(sequence)) if sequence.index in kept else 0
        assert len(cells) == n * n
        expected = position_traces[sequence.index].layers[1].attention[0, 0, :n, :n]
        np.testing.assert_allclose(cells["attention"], expected.flatten(), rtol=1e-4, atol=1e-6)
        tokens = list(sequence.tokens[:n])
        assert cells["query_token"].tolist() == [token for token in tokens for _ in tokens]
        assert cells["key_token"].tolist() == tokens * n
        assert cells["key_pos"].tolist() == list(range(n)) * n
