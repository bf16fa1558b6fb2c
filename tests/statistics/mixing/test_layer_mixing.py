"""Whole layers as sums over their tokens, against every vector of every pair written out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.mixing import layer_mixing as formula
from analysis.measures.mixing.layer_mixing import attention_mixing, layer_mixing
from analysis.measures.mixing.linear_layer import LinearNorm, linear_layer
from analysis.measures.mixing.map_similarity import map_similarities
from analysis.statistics.mixing import MIXING_RATIO
from precompute.passes.mixing import sequence_scope_similarity
from tests.statistics.fits import made, store_of
from tests.statistics.mixing import slow_layers as twin
from tests.statistics.mixing.slow_layers import every_order, in_float32
from tests.tracing import layers_of


@every_order
def test_every_scope_is_what_the_vectors_written_out_say(layers, attention_error):
    """Maps, ratios, the sum of all parts, and attention's block by itself."""
    for layer in layers:
        mixing, parts, norms = layer_mixing(layer), twin.layer_sums(layer), twin.norms(layer)
        order = layer.weights.order
        for place, scope in enumerate(order.scopes):
            torch.testing.assert_close(mixing.maps[place], norms[scope], rtol=1e-9, atol=1e-9)
            if scope in parts:
                ratio = twin.mixing_ratio(parts[scope].parts)
                torch.testing.assert_close(mixing.ratios[place], ratio)
        itself = layer.attention[0].diagonal(dim1=1, dim2=2).mean(dim=0)
        torch.testing.assert_close(
            mixing.ratios[0], 1 - itself, rtol=1e-7, atol=10 * attention_error
        )
        assert mixing.errors.max() < 1e-12
        torch.testing.assert_close(parts[order.whole].whole, layer.output[0])
        block = mixing.maps[order.scopes.index(order.attention_block)]
        torch.testing.assert_close(attention_mixing(layer), block, rtol=1e-9, atol=1e-12)


@every_order
@pytest.mark.parametrize(("name", "most"), [("budget", 1), ("budget", 3000), ("MOST_SHARES", 100)])
def test_keys_that_are_taken_a_few_at_a_time_change_no_number(layers, monkeypatch, name, most):
    layer = max(layers, key=lambda layer: layer.input.shape[1])
    full, block = layer_mixing(layer), attention_mixing(layer)
    if name != "budget":
        monkeypatch.setattr(formula, name, most)
    cut = layer_mixing(layer, **({name: most} if name == "budget" else {}))
    for part in ("maps", "ratios"):
        torch.testing.assert_close(getattr(cut, part), getattr(full, part), rtol=1e-12, atol=1e-12)
    assert cut.errors.max() < 1e-12
    torch.testing.assert_close(attention_mixing(layer), block, rtol=1e-12, atol=1e-12)


@every_order
def test_rougher_formats_stay_close_and_tell_their_error(layers):
    for layer in layers:
        wide, narrow = layer_mixing(layer), layer_mixing(in_float32(layer))
        assert narrow.errors.max() < 1e-5
        torch.testing.assert_close(narrow.maps.double(), wide.maps, rtol=1e-4, atol=1e-5)
        rough = layer_mixing(layer, dtype=torch.bfloat16)
        torch.testing.assert_close(rough.maps[:4], wide.maps[:4])
        if layer.weights.order.is_parallel:  # no pair has a hidden vector of its own
            torch.testing.assert_close(rough.maps, wide.maps)
        else:
            assert 1e-5 < rough.errors.max() < 5e-2


@every_order
def test_errors_are_held_against_what_the_rough_format_leaves_visible(layers):
    """An output a thousand times too small misses all, and is less than rounding of its parts."""
    faint = replace(layers[0], output=layers[0].output / 1000)
    fine, rough = (layer_mixing(faint, dtype=dtype).errors for dtype in (None, torch.bfloat16))
    assert (fine > 10 * rough).all()


@every_order
def test_steps_are_those_of_the_order(layers):
    for layer in layers:
        given, order = linear_layer(layer), layer.weights.order
        stages = (given.read, given.after_attention, given.to_network, given.after_network)
        for steps, names in zip(stages, order.stages, strict=True):
            assert ["ln" if isinstance(step, LinearNorm) else step for step in steps] == list(names)


@given(
    st.integers(1, 12).flatmap(
        lambda n: arrays(np.float64, (3, n), elements=st.integers(0, 5).map(float))
    )
)
def test_maps_full_of_ties_compare_by_mid_ranks(maps):
    found = map_similarities(maps)
    np.testing.assert_allclose(found, pd.DataFrame(maps.T).corr(method="spearman"), atol=1e-12)
    assert not (abs(found) > 1).any()


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_a_layer_without_anything_to_rank_has_no_row(tiny, sequences):
    layer = layers_of(tiny, sequences[:1])[0]
    level = replace(layer.mixing_of(0), maps=layer.mixing_of(0).maps * 0 + 1)
    flat = replace(layer, _mixing=dict.fromkeys(layer._mixing, level))
    assert sequence_scope_similarity(flat).num_rows == 0


def pooled(sequences: list[list[float]]) -> tuple[float, float]:
    """Interval of the pooled mean of some sequences' ratios."""
    rows = pd.DataFrame(
        {
            "seq": np.arange(len(sequences)),
            "layer": 1,
            "scope": "attn_w",
            "token_type": "all",
            "n": [len(ratios) for ratios in sequences],
            "mean": [np.mean(ratios) for ratios in sequences],
            "m2": 0.0,
            "min": 0.0,
            "max": 1.0,
        }
    )
    with store_of(sequence_mixing_ratio=rows) as store:
        table = made(MIXING_RATIO, store)
    row = table[table["layer"].isna()].iloc[0]
    assert row["mean"] == pytest.approx(np.mean(np.concatenate(sequences)))
    return row["low"], row["high"]


def test_long_sequences_weigh_more_and_few_have_no_interval():
    """One of 99 tokens at 0.9 among eleven of one token at 0: 90 / 110, not 0.9 / 12."""
    long = [[0.9] * 99, *[[0.0]] * 11]
    low, high = pooled(long)
    assert low == 0
    assert high == pytest.approx(3 * 89.1 / (3 * 99 + 9), rel=0.01)
    assert np.isnan(pooled(long[:9])).all()
