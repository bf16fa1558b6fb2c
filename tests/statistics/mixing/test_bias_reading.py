"""Readings of the bias side by side: rows of sequences and pairs, and their means in a store."""

import dataclasses

import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.norm import LayerNormWeights
from analysis.models.trace import LayerTrace
from analysis.scopes import BIAS_READINGS
from analysis.statistics.mixing import bias_reading
from analysis.statistics.pairs import pair_delta
from tests.statistics.fits import made, store_of
from tests.tracing import layers_of, rows_of_table

two_ways = pytest.mark.parametrize("family", ["bert", "gpt2"], indirect=True, scope="session")
FIRST = {"checked": frozenset({0})}


@two_ways
def test_each_reading_is_measured_behind_the_network(tiny, sequences, traced_alone, layer_order):
    rows = rows_of_table(bias_reading.PER_SEQUENCE, tiny, sequences, **FIRST).to_pandas()
    assert set(rows["seq"]) == {0}
    rows = rows.set_index(["layer", "reading"])
    before, after = (layer_order.scopes.index(scope) for scope in layer_order.effects["ff"])
    for index, layer in enumerate(traced_alone[0].layers):
        seen = layer.weights.pairs(len(sequences[0])).numpy()
        for reading in BIAS_READINGS:
            mixing = layer_mixing(layer, bias_reading=reading)
            maps = mixing.maps.numpy()
            expected = spearmanr(maps[before][seen], maps[after][seen])[0]
            row = rows.loc[(index, reading)]
            assert row["similarity"] == pytest.approx(expected, abs=1e-6)
            assert row["mixing_ratio"] == pytest.approx(mixing.ratios[after].mean().item())
            assert row["relative_error"] < 1e-6


@two_ways
def test_pairs_under_the_first_reading_are_those_of_all_other_numbers(tiny, sequences):
    found = rows_of_table(bias_reading.PER_PAIR, tiny, sequences, **FIRST).to_pandas()
    every = rows_of_table(pair_delta.TABLE, tiny, sequences[:1]).to_pandas()
    for column in ("layer", "source", "target"):
        assert found[column].tolist() == every[column].tolist()
    assert found[BIAS_READINGS[0]].tolist() == pytest.approx(every["ff"].tolist())


@pytest.mark.parametrize("family", ["gpt2", "llama"], indirect=True, scope="session")
def test_without_biases_one_reading_is_measured_for_all(tiny, sequences):
    layer = layers_of(tiny, sequences[:1])[0]
    assert layer.weights.has_biases
    silent = dataclasses.replace(layer, trace=_without_biases(layer.trace))
    assert not silent.weights.has_biases
    first, *others = (silent.mixing_of(0, bias_reading=reading) for reading in BIAS_READINGS)
    assert all(other is first for other in others)
    for reading in BIAS_READINGS:
        written_out = layer_mixing(silent.trace, bias_reading=reading)
        torch.testing.assert_close(written_out.maps, first.maps, atol=1e-8, rtol=1e-7)


@pytest.mark.parametrize("family", ["gpt2", "llama"], indirect=True, scope="session")
def test_any_bias_before_the_activation_keeps_the_readings_apart(traced_alone):
    weights = traced_alone[0].layers[0].weights
    silent = _without_biases(traced_alone[0].layers[0]).weights
    network, silent_network = weights.feed_forward, silent.feed_forward
    names = ["input_bias", *(["gate_bias"] if network.gate_bias is not None else [])]
    for name in names:
        forward = dataclasses.replace(silent_network, **{name: getattr(network, name)})
        assert dataclasses.replace(silent, feed_forward=forward).has_biases
    assert dataclasses.replace(silent, output_bias=weights.output_bias).has_biases
    assert dataclasses.replace(silent, norms=weights.norms).has_biases == any(
        norm.shift.any() for norm in weights.norms_by_stage[2]
    )


def _without_biases(layer: LayerTrace) -> LayerTrace:
    """The layer with zeros for every bias and shift before the activation; its vectors stay."""
    weights, network = layer.weights, layer.weights.feed_forward
    biases = {name: torch.zeros_like(network.input_bias) for name in ("input_bias", "gate_bias")}
    if network.gate_bias is None:
        biases.pop("gate_bias")
    norms = tuple(
        dataclasses.replace(norm, shift=torch.zeros_like(norm.shift))
        if isinstance(norm, LayerNormWeights)
        else norm
        for norm in weights.norms
    )
    silent = dataclasses.replace(
        weights,
        output_bias=torch.zeros_like(weights.output_bias),
        feed_forward=dataclasses.replace(network, **biases),
        norms=norms,
    )
    return dataclasses.replace(layer, weights=silent)


def test_where_too_few_pairs_are_left_none_are_counted():
    """Of eleven pairs ten are counted; one of the first ten is another under another reading."""
    sequence = pd.DataFrame(
        [(0, 1, reading, 0.5, 0.5) for reading in BIAS_READINGS],
        columns=["seq", "layer", "reading", "similarity", "mixing_ratio"],
    )
    pairs = pd.DataFrame({"layer": 1, "source": range(11), "target": 0})
    pairs["player"] = pairs["constant"] = pairs["left_out"] = pairs["source"] / 100
    pairs.loc[10, "left_out"] = -1.0
    for n_pairs, same in ((11, [10, 10, 9]), (9, [None] * 3)):
        with store_of(sequence_bias_reading=sequence, bias_reading_pair=pairs[:n_pairs]) as store:
            rows = made(bias_reading.TABLE, store)
        of_layer = rows[rows["layer"] == 1].set_index("reading").loc[list(BIAS_READINGS)]
        counted = of_layer["same_amplified"].astype(object)
        assert counted.where(counted.notna(), None).tolist() == same
        assert (of_layer["similarity"] == 0.5).all()


@two_ways
def test_the_first_reading_is_that_of_all_other_numbers(masked_store, layer_order):
    before, after = layer_order.effects["ff"]
    rows = bias_reading.by_layer(masked_store)
    ours = rows[rows["reading"] == BIAS_READINGS[0]].set_index("layer")["similarity"]
    similarities = masked_store.execute(
        "select layer, spearman from scope_similarity where scope_a = $before and scope_b = $after "
        "and layer is not null",
        {"before": before, "after": after},
    ).fetchall()
    assert {layer: ours[layer] for layer, _ in similarities} == pytest.approx(dict(similarities))


@two_ways
def test_pairs_that_stay_among_the_first_are_counted(masked_store):
    pairs = masked_store.execute("from bias_reading_pair").df()
    rows = bias_reading.by_layer(masked_store)
    assert set(rows["reading"]) == set(BIAS_READINGS)
    for layer, group in pairs.groupby("layer"):
        for reading in BIAS_READINGS:
            row = rows[(rows["layer"] == layer) & (rows["reading"] == reading)].iloc[0]
            for column, downwards in (("same_amplified", True), ("same_attenuated", False)):
                first = [
                    group.sort_values(
                        [ranked_by, "source", "target"], ascending=[not downwards, True, True]
                    )[:10][["source", "target"]]
                    for ranked_by in (BIAS_READINGS[0], reading)
                ]
                same = len(first[0].merge(first[1]))
                assert len(group) >= 10, "the corpus has pairs enough"
                assert row[column] == same


@two_ways
def test_what_stays_over_all_layers_is_the_mean_of_the_layers(masked_store):
    rows = masked_store.execute("from bias_reading").df()
    columns = ["same_amplified", "same_attenuated"]
    of_layers = rows[rows["layer"].notna()].groupby("reading")[columns].mean()
    overall = rows[rows["layer"].isna()].set_index("reading")[columns]
    pd.testing.assert_frame_equal(overall.sort_index(), of_layers)


@two_ways
def test_pairs_that_occur_once_are_left_out(masked_store):
    counts = masked_store.execute("select min(n), count(*) from bias_reading_pair").fetchall()
    assert counts[0][0] == 2
