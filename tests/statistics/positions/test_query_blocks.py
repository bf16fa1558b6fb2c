"""Scores in blocks of queries are those of all queries at once."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from analysis.measures.positions import score_sums
from analysis.measures.positions.query_key_error import relative_errors
from analysis.measures.positions.query_key_wave import written_out
from analysis.measures.positions.score_sums import offset_totals, plane_totals
from tests.statistics.positions.turned_layers import turning
from tests.tiny import tiny_model, tiny_sequences
from tests.tracing import trace_of


def _numbers(result: Any) -> list[torch.Tensor]:
    return [torch.as_tensor(part) for part in result]


def _assert_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, compute: Any) -> None:
    expected = _numbers(compute())
    for scores in (1, 3 * 2 * 18, 3 * 7 * 18):  # one query, two, or seven at a time
        monkeypatch.setattr(score_sums, "_SCORES", scores)
        for found, whole in zip(_numbers(compute()), expected, strict=True):
            torch.testing.assert_close(found, whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("window", [None, 2, 5])
def test_blocks_change_no_sum_over_planes_and_no_error(traced_alone, monkeypatch, window):
    layer = traced_alone[0].layers[1]
    weights = turning(layer.weights, window=window)
    seen = weights.pairs(layer.attention.shape[-1])
    turned = replace(layer, weights=weights, attention=layer.attention * seen)
    _assert_blocks_change_nothing(
        monkeypatch, lambda: plane_totals(layer.attention_input[0], weights)
    )
    monkeypatch.undo()
    _assert_blocks_change_nothing(monkeypatch, lambda: relative_errors(turned))


@pytest.mark.parametrize("family", ["t5", "deberta-v2"])
def test_blocks_change_no_sum_over_offset_terms_and_no_error(family, monkeypatch):
    model = tiny_model(family)
    layer = trace_of(model, tiny_sequences(family)[:1]).layers[1]
    read = layer.attention_input[0]
    for compute in (
        lambda: offset_totals(read, layer.weights),
        lambda: written_out(read, layer.weights),
        lambda: relative_errors(layer),
    ):
        _assert_blocks_change_nothing(monkeypatch, compute)
        monkeypatch.undo()


@pytest.mark.parametrize("window", [None, 0, 3])
def test_the_span_of_a_block_holds_every_key_that_is_seen_and_no_more(tiny, monkeypatch, window):
    monkeypatch.setattr(score_sums, "_SCORES", 3 * 4 * 11)
    weights = replace(tiny.layers[0], window=window)
    whole = weights.pairs(11)
    queries = []
    for rows, span, seen in score_sums.query_blocks(weights, 11):
        queries += range(11)[rows]
        assert torch.equal(seen, whole[rows, span])
        assert seen.sum() == whole[rows].sum()
        assert seen.any(dim=0).all()
    assert queries == list(range(11))
