"""Stored offset terms add up over any division of the corpus, and give preferred offsets."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from analysis.models.offset_terms import OffsetTerms
from analysis.models.trace import LayerWeights, Trace
from precompute.jobs.shards import as_stored, counted_from_1, merged
from precompute.passes.batch import Batch
from precompute.passes.positions import offset_term, query_key_correlation
from tests.precompute.passes.positions.fits import fitted
from tests.tiny import tiny_model, tiny_sequences

FAMILIES = ("t5", "deberta-v2")
of_families = pytest.mark.parametrize("kind", FAMILIES)
Changed = Callable[[LayerWeights], LayerWeights]


def _read(kind: str, change: Changed = lambda weights: weights) -> tuple[list, Trace, list[Trace]]:
    """Texts of a tiny model, traced together and each by itself, with other weights."""
    model, texts = tiny_model(kind), tiny_sequences(kind)

    def changed(trace: Trace) -> Trace:
        layers = (replace(layer, weights=change(layer.weights)) for layer in trace.layers)
        return replace(trace, layers=tuple(layers))

    return list(texts), changed(model.trace(texts)), [changed(model.trace([t])) for t in texts]


def _stored(statistic, tables: list[pa.Table]) -> pd.DataFrame:
    frame = as_stored(statistic.TABLE, merged(statistic.TABLE, tables)).to_pandas()
    return frame.sort_values([c.name for c in statistic.TABLE.key], ignore_index=True)


@of_families
@pytest.mark.parametrize("statistic", [offset_term, query_key_correlation], ids=["terms", "sums"])
def test_padding_batching_and_order_change_no_number(statistic, kind):
    texts, traced, alone = _read(kind)
    together = _stored(statistic, [statistic.totals(Batch(tuple(texts), traced))])
    apart = [statistic.totals(Batch((t,), trace)) for t, trace in zip(texts, alone, strict=True)]
    assert len(together)
    pd.testing.assert_frame_equal(together, _stored(statistic, apart), rtol=1e-6, atol=1e-7)
    pd.testing.assert_frame_equal(
        _stored(statistic, apart), _stored(statistic, apart[::-1]), rtol=1e-12
    )


@of_families
def test_sums_along_diagonals_are_those_of_the_models_scores(kind):
    texts, _, alone = _read(kind)
    rows = _stored(
        query_key_correlation, [query_key_correlation.totals(Batch((texts[0],), alone[0]))]
    )
    for index, layer in enumerate(alone[0].layers):
        weights = layer.weights
        scores = (weights.scores(layer.attention_input) / weights.score_scale)[0].numpy()
        centred = scores - scores.mean(axis=-1, keepdims=True)
        of_layer = rows[rows["layer"] == index]
        for row in of_layer.to_dict("records"):
            for name, matrix in (("value", scores), ("value_centred", centred)):
                expected = np.trace(matrix[row["head"]], offset=row["offset"])
                assert row[name] == pytest.approx(expected, abs=1e-9)


def _fitted(kind: str, change: Changed = lambda weights: weights) -> tuple[Any, Any]:
    """Kernels and shares of all texts."""
    texts, traced, _ = _read(kind, change)
    batch = Batch(tuple(texts), traced)
    terms, sums = (
        counted_from_1(statistic.totals(batch))
        for statistic in (offset_term, query_key_correlation)
    )
    offsets = sums["offset"].unique().to_pylist()
    return fitted("offset_term", terms.to_pandas(), offsets)


def test_the_kernel_of_a_t5_is_its_bias_at_every_offset_there_is():
    model = tiny_model("t5")
    kernels, shares = _fitted("t5")
    bias = model.model.encoder.block[0].layer[0].SelfAttention.compute_bias(18, 18)[0].detach()
    assert sorted(set(kernels["offset"])) == list(range(-17, 18))
    for row in kernels.to_dict("records"):
        i = max(0, -row["offset"])
        expected = float(bias[row["head"] - 1, i, i + row["offset"]])
        assert row["kernel"] == pytest.approx(expected, rel=1e-12)
    assert len(shares) == 2 * (3 + 1), "every head, and the mean over heads of each layer"
    assert (shares[["query", "key"]] == 0).all(axis=None)
    assert (shares["position"] != 0).all()
    np.testing.assert_allclose(shares["position"] + shares["content"], 1)


def test_shares_of_a_deberta_add_up_and_none_is_nothing():
    kernels, shares = _fitted("deberta-v2")
    parts = shares[["position", "query", "key", "content"]]
    np.testing.assert_allclose(parts.sum(axis=1), 1)
    assert (parts.abs() > 1e-6).all(axis=None)
    assert len(kernels) == 2 * 3 * 35


def test_planted_offsets_are_found_by_the_kernel():
    planted = [-3, 1, 2]

    def change(weights: LayerWeights) -> LayerWeights:
        bias = torch.zeros(3, 11, dtype=torch.float64)
        for head, offset in enumerate(planted):
            bias[head, offset + 5] = 2.0
        return replace(weights, offset_terms=OffsetTerms(torch.arange(11), bias=bias))

    kernels, _ = _fitted("t5", change)
    for _, of_head in kernels.groupby(["layer", "head"]):
        peak = of_head.sort_values("kernel").iloc[-1]
        assert peak["offset"] == planted[int(of_head["head"].iloc[0]) - 1]
        assert peak["kernel"] == 2.0


def test_a_layer_that_adds_nothing_has_no_rows():
    model, texts = tiny_model("bert"), tiny_sequences("bert")[:1]
    rows = offset_term.totals(Batch(texts, model.trace(texts)))
    assert rows.schema == offset_term.TABLE.shard_schema
    assert rows.num_rows == 0
