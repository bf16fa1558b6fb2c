"""Attention to no token against loops over pairs, and numbers that know rows of less than 1."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures.mixing.completeness import attention_sum_error
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.mixture import ratios_of_layer
from analysis.measures.mixing.rollout import rolled_on, with_residual
from analysis.measures.sinks.attention_sinks import shares_of_no_token
from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.sinks import NO_TOKEN
from analysis.statistics import sinks
from analysis.statistics.heads.head_distances import HEAD_DISTANCE
from analysis.statistics.heads.single_heads import SEQUENCE_HEAD_PATTERN
from analysis.statistics.mixing import SEQUENCE_MIXING_RATIO
from tests.statistics.fits import made, store_of
from tests.statistics.sinks.places import pairs_of, seen_by
from tests.tiny import tiny_model, tiny_sequences
from tests.tracing import layers_of, rows_of_table

FAMILY = "gpt_oss"


@pytest.fixture(scope="module")
def sunk():
    """A model whose heads have sink logits, its texts, and its layers."""
    tiny, sequences = tiny_model(FAMILY), tiny_sequences(FAMILY)
    return tiny, sequences, layers_of(tiny, sequences)


def outcomes(layer, row: int, head: int, n: int) -> list[list[float]]:
    """Softmax over the keys that each query sees and the sink logit, which comes last."""
    read, seen = layer.trace.attention_input[row, :n], layer.weights.pairs(n)
    scores, sink = layer.weights.scores(read)[head], layer.weights.sink_logit[head].item()
    rows = []
    for query in range(n):
        sizes = [math.exp(scores[query, key]) if seen[query, key] else 0.0 for key in range(n)]
        sizes.append(math.exp(sink))
        rows.append([size / sum(sizes) for size in sizes])
    return rows


def mean(numbers) -> float:
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else math.nan


def test_every_head_gives_no_token_what_the_loops_say(sunk):
    tiny, sequences, layers = sunk
    rows = rows_of_table(sinks.SEQUENCE_NO_TOKEN, tiny, sequences).to_pandas()
    found = rows.set_index(["seq", "layer", "head"])
    expected = {}
    for layer in layers:
        for row, sequence in enumerate(sequences):
            n = len(sequence)
            seen = layer.weights.pairs(n).sum(dim=1).tolist()
            for head in range(layer.attention.shape[1]):
                every = outcomes(layer, row, head, n)
                lost = [shares[-1] for shares in every]
                half = (n + 1) // 2
                expected[sequence.index, layer.weights.number, head + 1] = (
                    mean(lost),
                    mean(1 / (m + 1) for m in seen),
                    mean(shares[0] for shares in every),
                    mean(lost[:half]),
                    mean(lost[half:]),
                )
    frame = pd.DataFrame.from_dict(expected, orient="index", columns=list(NO_TOKEN))
    assert len(frame) == len(rows) > 0
    for key, values in frame.iterrows():
        np.testing.assert_allclose(found.loc[key], values, rtol=1e-5, atol=1e-7)
    assert frame["no_token"].between(0.001, 0.999).any()


def test_a_text_of_one_token_has_no_halves_and_padding_gives_nothing():
    attention = torch.zeros(1, 1, 3, 3, dtype=torch.float64)
    attention[0, 0, 0, 0] = 0.25
    (shares,) = shares_of_no_token(attention, pairs_of([seen_by(1, is_causal=True)], 3))[0]
    assert shares[:3].tolist() == [0.75, 0.5, 0.25]
    assert shares[3:].isnan().all()


def test_models_without_sink_logits_have_no_rows():
    rows = rows_of_table(sinks.SEQUENCE_NO_TOKEN, tiny_model("llama"), tiny_sequences("llama"))
    assert rows.num_rows == 0


def test_means_are_over_sequences_and_over_the_heads_of_a_layer(sunk):
    tiny, sequences, _ = sunk
    rows = rows_of_table(sinks.SEQUENCE_NO_TOKEN, tiny, sequences)
    frame = rows.to_pandas()
    with store_of(sequence_no_token=rows) as store:
        means = made(sinks.NO_TOKEN, store).set_index(["layer", "head", "quantity"])["mean"]
    for (layer, head), of_head in frame.groupby(["layer", "head"]):
        for name in NO_TOKEN:
            assert means[layer, head, name] == pytest.approx(of_head[name].mean())
    layers = means[means.index.get_level_values("head").isna()].droplevel("head")
    for layer, of_layer in frame.groupby("layer"):
        by_text = of_layer.groupby("seq")["late"].mean()
        assert layers[layer, "late"] == pytest.approx(by_text.mean())


def entropy(shares) -> float:
    return -sum(share * math.log(share) for share in shares if share > 0)


def test_entropies_take_no_token_as_one_more_outcome_by_weights_alone(sunk):
    tiny, sequences, layers = sunk
    rows = rows_of_table(SEQUENCE_HEAD_PATTERN, tiny, sequences).to_pandas()
    found = rows.astype({"weighing": str}).set_index(["weighing", "seq", "layer", "head"])
    for layer in layers:
        for row, sequence in enumerate(sequences):
            n = len(sequence)
            seen = layer.weights.pairs(n)
            for head in range(layer.attention.shape[1]):
                entropies = []
                for query, shares in enumerate(outcomes(layer, row, head, n)):
                    m = int(seen[query].sum())
                    tokens = [shares[key] for key in range(n) if seen[query, key]]
                    smoothed = [0.9999 * share + 0.0001 / m for share in tokens]
                    entropies.append(entropy([*smoothed, 0.9999 * shares[-1]]))
                key = sequence.index, layer.weights.number, head + 1
                assert found.loc[("weight", *key), "entropy"] == pytest.approx(
                    mean(entropies), 1e-5
                )
                for weighing, more in (("weight", 1), ("norm", 0)):
                    even = mean(math.log(m + more) for m in seen.sum(dim=1).tolist())
                    assert found.loc[(weighing, *key), "uniform"] == pytest.approx(even, 1e-5)


def test_distances_of_heads_take_no_token_as_one_more_outcome(sunk):
    tiny, sequences, layers = sunk
    sequences, row = sequences[1:2], 1
    rows = rows_of_table(HEAD_DISTANCE, tiny, sequences).to_pandas()
    by_weight = rows[rows["weighing"].astype(str) == "weight"]
    found = by_weight.set_index(["layer_a", "head_a", "layer_b", "head_b"])["divergence"]
    n = len(sequences[0])
    heads = {
        (layer.weights.number, head + 1): outcomes(layer, row, head, n)
        for layer in layers
        for head in range(layer.attention.shape[1])
    }
    widest = np.any([layer.weights.pairs(n).numpy() for layer in layers], axis=0)
    for one, other in combinations(heads, 2):
        total = 0.0
        for query in range(n):
            there = [*np.flatnonzero(widest[query]), n]
            sides = [
                [0.999 * heads[head][query][key] + 0.001 / len(there) for key in there]
                for head in (one, other)
            ]
            middle = [(a + b) / 2 for a, b in zip(*sides, strict=True)]
            total += entropy(middle) - (entropy(sides[0]) + entropy(sides[1])) / 2
        assert found[(*one, *other)] == pytest.approx(total, rel=1e-5)


def test_with_the_residual_a_row_of_weights_is_scaled_to_1(sunk):
    tiny, sequences, layers = sunk
    stored = rows_of_table(SEQUENCE_MIXING_RATIO, tiny, sequences).to_pandas()
    for layer in layers:
        alone = layer.trace.of_sequence(0, len(sequences[0]))
        mixing, weights = layer_mixing(alone), alone.attention[0].mean(dim=0).numpy()
        given = weights.sum(axis=1)
        of_layer = ratios_of_layer(mixing.ratios.numpy(), given)
        half = (weights + np.eye(len(weights))) / 2
        shares = half / half.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(of_layer[1], 1 - shares.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(of_layer[0], 1 - weights.diagonal() / given, rtol=1e-9)
        np.testing.assert_allclose(rolled_on(None, with_residual(weights)[None])[0], shares)
        here = stored[
            (stored["seq"] == sequences[0].index) & (stored["layer"] == layer.weights.number)
        ]
        whole = here[here["token_type"].astype(str) == "all"].astype({"scope": str})
        whole = whole.set_index("scope")
        assert whole.loc[WEIGHTS_WITH_RESIDUAL, "mean"] == pytest.approx(
            of_layer[1].mean(), rel=1e-6
        )


def test_a_row_may_lack_the_share_of_a_sink_and_nothing_may_leak_to_padding():
    is_token = torch.tensor([[True, True, False]])
    rows = {(0.3, 0.2, 0.0): 0.0, (0.7, 0.4, 0.0): 0.1, (0.3, 0.2, 0.05): 0.05}
    for row, expected in rows.items():
        attention = torch.tensor([row, row, row], dtype=torch.float64)[None, None]
        error = attention_sum_error(attention, is_token, has_sink=True)
        assert error.item() == pytest.approx(expected)
        without = attention_sum_error(attention, is_token)
        assert without.item() == pytest.approx(abs(1 - row[0] - row[1]))
