"""Attention that rests on places or on no token, what a layer lacks, and massive activations."""

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures.mixing.completeness import attention_sum_error
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.mixture import ratios_of_layer
from analysis.measures.mixing.rollout import rolled_on, with_residual
from analysis.measures.sinks.attention_sinks import shares_of_no_token
from analysis.measures.sinks.largest_activations import largest_activations
from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.statistics import sinks
from analysis.statistics.mixing import SEQUENCE_MIXING_RATIO
from tests.massive import COORDINATE, SIZE, massive_model
from tests.statistics.fits import made, store_of
from tests.tiny import OF_IMAGES, tiny_sequences
from tests.tracing import layers_of, rows_of_table


@pytest.mark.parametrize("family", OF_IMAGES, indirect=True, scope="session")
def test_places_of_images_have_the_weights_of_their_tokens(tiny, sequences):
    rows = rows_of_table(sinks.SEQUENCE_SINK, tiny, sequences).to_pandas()
    found, n_rows = rows.set_index(["seq", "layer", "place"])["attention"], 0
    for layer in layers_of(tiny, sequences):
        received = layer.attention.mean(dim=2)
        for row, sequence in enumerate(sequences):
            types = np.array(sequence.named_types)
            content = np.flatnonzero(~np.isin(types, ["cls", "register"]))
            places = {kind: np.flatnonzero(types == kind) for kind in set(sequence.named_types)}
            for place, tokens in {"first": [0], "first_content": content[:1], **places}.items():
                of_heads = found.loc[sequence.index, layer.weights.number, place].tolist()
                assert of_heads == pytest.approx(received[row][:, tokens].sum(dim=1).tolist())
                n_rows += len(of_heads)
    assert n_rows == len(rows)


def test_a_text_of_one_token_has_no_halves_and_padding_gives_nothing():
    attention = torch.zeros(1, 1, 3, 3, dtype=torch.float64)
    attention[0, 0, 0, 0] = 0.25
    (shares,) = shares_of_no_token(attention, attention[0] > 0)[0]
    assert shares[:3].tolist() == [0.75, 0.5, 0.25]
    assert shares[3:].isnan().all()


@pytest.mark.parametrize("family", ["gpt_oss"], indirect=True, scope="session")
def test_with_the_residual_a_row_of_weights_is_scaled_to_1(tiny, sequences):
    """Its heads have sink logits."""
    rows = rows_of_table(SEQUENCE_MIXING_RATIO, tiny, sequences).to_pandas()
    for layer in layers_of(tiny, sequences):
        alone = layer.trace.of_sequence(0, len(sequences[0]))
        mixing, weights = layer_mixing(alone), alone.attention[0].mean(dim=0).numpy()
        given = weights.sum(axis=1)
        of_layer = ratios_of_layer(mixing.ratios.numpy(), given)
        half = (weights + np.eye(len(weights))) / 2
        shares = half / half.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(of_layer[1], 1 - shares.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(of_layer[0], 1 - weights.diagonal() / given, rtol=1e-9)
        np.testing.assert_allclose(rolled_on(None, with_residual(weights)[None])[0], shares)
        place = ["layer", "scope", "token_type", "seq"]
        cell = layer.weights.number, WEIGHTS_WITH_RESIDUAL, "all", sequences[0].index
        mean = rows.set_index(place)["mean"].loc[cell].item()
        assert mean == pytest.approx(of_layer[1].mean(), rel=1e-6)


def test_a_row_may_lack_the_share_of_a_sink_and_nothing_may_leak_to_padding():
    is_token = torch.tensor([[True, True, False]])
    rows = {(0.3, 0.2, 0.0): 0.0, (0.7, 0.4, 0.0): 0.1, (0.3, 0.2, 0.05): 0.05}
    for row, expected in rows.items():
        attention = torch.tensor([row, row, row], dtype=torch.float64)[None, None]
        error = attention_sum_error(attention, is_token, has_sink=True)
        assert error.item() == pytest.approx(expected)
        without = attention_sum_error(attention, is_token)
        assert without.item() == pytest.approx(abs(1 - row[0] - row[1]))


def test_a_planted_activation_is_found_where_it_was_put():
    model, sequences = massive_model("gpt2", "first"), tiny_sequences("gpt2")[:1]
    rows = rows_of_table(sinks.SEQUENCE_MASSIVE_ACTIVATION, model, sequences).to_pandas()
    read = rows[rows["depth"] < len(model.layers)].set_index("place")
    every, first = read.loc["all"], read.loc["first"]
    assert every["largest"].tolist() == pytest.approx([SIZE] * len(every), rel=0.01)
    assert set(every["pos"]) == {1}
    assert set(every["coordinate"]) == {COORDINATE}
    assert (first["largest"] < SIZE / 100).all()
    assert (every["largest"] > 1000 * every["median"]).all()


def test_massive_texts_have_a_share_and_a_median_of_0_no_ratio():
    """Four texts at one depth, two of them massive; one has no median, one is large in all."""
    frame = pd.DataFrame({"largest": [2000.0, 3000, 50, 150], "ratio": [2000.0, 2000, np.nan, 3]})
    frame = frame.assign(seq=range(4), depth=1, place="cls")
    with store_of(sequence_massive_activation=frame) as store:
        means = made(sinks.MASSIVE_ACTIVATION, store).set_index("quantity")
    expected = {"largest": 1300, "ratio": 4003 / 3, "massive": 1 / 2}
    assert means["mean"].to_dict() == pytest.approx(expected)
    assert means["n_sequences"].to_dict() == {"largest": 4, "ratio": 3, "massive": 4}


def test_sizes_grow_with_the_stream_and_their_ratio_does_not():
    states = torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    places = torch.eye(6, dtype=torch.bool)
    activations, again = (largest_activations(states * times, places) for times in (1, -7))
    torch.testing.assert_close(again.largest, activations.largest * 7)
    torch.testing.assert_close(again.median, activations.median * 7)
    assert torch.equal(again.coordinate, activations.coordinate)
