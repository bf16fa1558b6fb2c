"""Attention that rests on places or on no token, what a layer lacks, and massive activations."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.mixing.completeness import attention_sum_error
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.mixture import ratios_of_layer
from analysis.measures.mixing.rollout import rolled_on, with_residual
from analysis.measures.sinks.attention_sinks import shares_of_no_token, sink_weights
from analysis.measures.sinks.largest_activations import largest_activations
from analysis.models.head_norm import HeadNormWeights
from analysis.models.trace import LayerWeights
from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.sinks import RATED, THRESHOLDS, WEIGHTS
from analysis.statistics import sinks
from analysis.statistics.mixing import SEQUENCE_MIXING_RATIO
from analysis.statistics.sinks import PLACES
from tests.massive import COORDINATE, SIZE, massive_model
from tests.precompute.corpora.tiny import unhurried
from tests.statistics.fits import made, store_of
from tests.statistics.positions.turned_layers import changed_layers, stored, turning
from tests.tiny import OF_IMAGES, tiny_sequences
from tests.tracing import layers_of, rows_of_table


def place_tokens(types: list[str]) -> dict[str, list[int]]:
    """Tokens of every place in a text."""
    special = ("cls", "sep", "bos", "register")
    content = [j for j, kind in enumerate(types) if kind not in special]
    places = {"first": [0], "first_content": content[:1]}
    for j, kind in enumerate(types):
        if kind != "first":  # which is a place already
            places.setdefault(kind, []).append(j)
    return {name: tokens for name, tokens in places.items() if tokens}


TYPES = ("cls", "other", "comma_period", "sep")


@pytest.mark.parametrize("family", OF_IMAGES, indirect=True, scope="session")
def test_places_of_images_have_the_weights_of_their_tokens(tiny, sequences):
    rows = rows_of_table(sinks.SEQUENCE_SINK, tiny, sequences).to_pandas()
    found, n_rows = rows.set_index(["seq", "layer", "place"])["attention"], 0
    for layer in layers_of(tiny, sequences):
        received = layer.attention.mean(dim=2)
        for row, sequence in enumerate(sequences):
            for place, tokens in place_tokens(list(sequence.named_types)).items():
                of_heads = found.loc[sequence.index, layer.weights.number, place].tolist()
                assert of_heads == pytest.approx(received[row][:, tokens].sum(dim=1).tolist())
                n_rows += len(of_heads)
    assert n_rows == len(rows)


def sinks_of(attention, norms, types, *, is_causal=False) -> dict[str, dict[str, float]]:
    """Every quantity of one head and text, by place."""
    n = len(types)
    seen, places = torch.ones(1, n, n, dtype=torch.bool), torch.zeros(1, len(PLACES), n).bool()
    for name, tokens in place_tokens(types).items():
        places[0, PLACES.index(name), tokens] = True
    weights = sink_weights(
        torch.as_tensor(attention, dtype=torch.float64)[None, None],
        torch.as_tensor(norms, dtype=torch.float64)[None, None],
        seen.tril() if is_causal else seen,
        places=places,
    )[0, 0]
    return {
        name: dict(zip(WEIGHTS, values, strict=True))
        for name, values in zip(PLACES, weights.tolist(), strict=True)
    }


def test_neighbours_of_the_last_and_of_the_only_token():
    attention = np.eye(3)[[1, 1, 1]]  # all attention is on the token in the middle
    sinks = sinks_of(attention, [1.0] * 3, ["cls", "other", "sep"])
    assert sinks["sep"]["neighbour"] == sinks["cls"]["neighbour"] == 1
    assert sinks["sep"]["attention"] == sinks["cls"]["attention"] == 0
    alone = sinks_of([[1.0]], [3.0], ["cls"])["cls"]
    assert (alone["attention"], alone["even"], alone["value_norm"]) == (1, 1, 3)
    assert math.isnan(alone["neighbour"])
    assert math.isnan(alone["relative_norm"])


@given(
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=9),
    st.integers(0, 2**31),
    st.booleans(),
)
@unhurried()
def test_types_share_all_attention_and_shares_follow_norms(types, seed, is_causal):
    n, generator = len(types), np.random.default_rng(seed)
    scores = torch.from_numpy(generator.normal(0, 4, (n, n)))
    if is_causal:
        scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)
    attention, lengths = scores.softmax(dim=-1), generator.uniform(0.1, 3, n)
    sinks, stretched, alike = (
        sinks_of(attention, norms, types, is_causal=is_causal)
        for norms in (lengths, lengths * 5, np.ones(n))
    )
    even = attention.gt(0) / attention.gt(0).sum(dim=1, keepdim=True)
    uniform = sinks_of(even, lengths, types, is_causal=is_causal)
    there = [name for name in TYPES if name in types]
    for name in ("attention", "even", "norm_share") if not is_causal else ():
        assert sum(sinks[place][name] for place in there) == pytest.approx(1)
    for place in there:
        for name in ("norm_share", "relative_norm"):
            same = pytest.approx(sinks[place][name], nan_ok=True)
            assert stretched[place][name] == same
        assert alike[place]["norm_share"] == pytest.approx(alike[place]["attention"])
        assert uniform[place]["attention"] == pytest.approx(uniform[place]["even"])


def test_a_share_that_equals_a_threshold_is_not_above_it():
    given = pd.DataFrame({"seq": 0, "layer": 2, "head": [1, 2, 3], "place": "cls"})
    shares = dict.fromkeys(WEIGHTS, (0.1, 0.3, 0.75)) | {"neighbour": np.nan}
    with store_of(sequence_sink=given.assign(**shares)) as store:
        rows = made(sinks.SINK_RATE, store)
    assert set(rows["quantity"]) == set(RATED) - {"neighbour"}
    of_all = rows[rows["layer"].isna()].groupby("threshold")["mean"].agg(["min", "max"])
    expected = [1 / 3 if t >= 0.3 else 2 / 3 for t in THRESHOLDS[:7]] + [0, 0]
    for side in ("min", "max"):
        assert of_all[side].tolist() == pytest.approx(expected)


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
        cell = (layer.weights.number, WEIGHTS_WITH_RESIDUAL, "all", sequences[0].index)
        [row] = rows[(rows[["layer", "scope", "token_type", "seq"]] == cell).all(axis=1)].index
        assert rows["mean"][row] == pytest.approx(of_layer[1].mean(), rel=1e-6)


def test_a_row_may_lack_the_share_of_a_sink_and_nothing_may_leak_to_padding():
    is_token = torch.tensor([[True, True, False]])
    rows = {(0.3, 0.2, 0.0): 0.0, (0.7, 0.4, 0.0): 0.1, (0.3, 0.2, 0.05): 0.05}
    for row, expected in rows.items():
        attention = torch.tensor([row, row, row], dtype=torch.float64)[None, None]
        error = attention_sum_error(attention, is_token, has_sink=True)
        assert error.item() == pytest.approx(expected)
        without = attention_sum_error(attention, is_token)
        assert without.item() == pytest.approx(abs(1 - row[0] - row[1]))


@pytest.mark.parametrize("lacking", ["biases", "the same after norms"])
def test_a_layer_that_lacks_biases_has_no_scores_of_them(tiny, sequences, lacking):
    def changed(weights: LayerWeights) -> LayerWeights:
        if lacking == "biases":
            zeros = {name: 0 * getattr(weights, name) for name in ("key_bias", "query_bias")}
            return turning(weights, **zeros)
        norm = HeadNormWeights(torch.ones_like(weights.key_bias[0]), 1e-6)
        return turning(weights, query_norm=norm, key_norm=norm)

    rows = stored(sinks.SEQUENCE_SINK_SCORE, changed_layers(tiny, sequences, changed))
    assert rows[["bias", "query_bias"]].isna().all(axis=None)
    parts = (rows["norm"] + rows["direction"]).to_numpy()
    np.testing.assert_allclose(rows["excess"], parts, rtol=1e-5, atol=1e-6)
    assert rows["excess"].notna().any()


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
