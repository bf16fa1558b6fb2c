import pandas as pd
import pytest

from analysis.statistics.mixing import mixing_ratio
from precompute.passes.batch import Batch
from precompute.passes.mixing import token_mixing_ratio
from tests.intervals import assert_ordered
from tests.reference.mixing import mixing_ratio as reference


def _ratios(batch: Batch, row: int, layer: int) -> dict[str, list[float]]:
    """Ratios of the tokens of one sequence and layer, by scope."""
    ratios = batch.layer_mixing[row][layer].ratios.tolist()
    n = len(batch.sequences[row])
    mean = batch.trace.layers[layer].attention[row, :, :n, :n].mean(dim=0)
    half = reference.with_residual(mean.tolist())
    return dict(zip(batch.order.scopes, ratios, strict=True)) | {"attn_w_res": half}


def test_every_token_has_the_mean_of_its_ratios(sequences, traced):
    batch = Batch(sequences, traced)
    rows = token_mixing_ratio.totals(batch).to_pandas()
    assert len(rows) == sum(map(len, sequences)) * len(batch.order.of_ratios)
    for (seq, scope), of in rows.groupby(["seq", "scope"], observed=True):
        layers = [_ratios(batch, seq, layer)[scope] for layer in range(len(traced.layers))]
        assert of.sort_values("pos")["mean"].tolist() == pytest.approx(
            reference.mean_over_layers(layers), rel=1e-6, abs=1e-7
        )


def test_each_layer_is_the_mean_over_sequences_and_spreads_over_tokens(masked_store, layer_order):
    parts = masked_store.execute("from sequence_mixing_ratio").df()
    for scope in layer_order.of_ratios:
        for row in mixing_ratio.by_layer(masked_store, scope=scope).itertuples():
            of = parts[
                (parts["layer"] == row.layer)
                & (parts["scope"] == scope)
                & (parts["token_type"] == row.token_type)
            ]
            assert row.mean == pytest.approx(of["mean"].mean(), rel=1e-12)
            assert row.n_sequences == len(of) == 3
            assert (row.n, row.min, row.max) == (of["n"].sum(), of["min"].min(), of["max"].max())
            assert_ordered(row.low, row.mean, row.high)


def test_all_layers_pooled_are_told_as_the_view_has_them(masked_store):
    view = masked_store.execute("from mixing_ratio where layer is null").df().drop(columns="layer")
    pooled = mixing_ratio.pooled(masked_store)
    by = ["scope", "token_type"]
    found, expected = (
        frame[list(view)].sort_values(by, ignore_index=True) for frame in (pooled, view)
    )
    pd.testing.assert_frame_equal(found, expected)
    assert_ordered(pooled["low"], pooled["mean"], pooled["high"])
