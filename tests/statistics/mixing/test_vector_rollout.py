"""Vectors of input tokens through all layers: against every vector written out, and in a store."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor

from analysis.measures.mixing.rollout import DISTANCES, distance_places
from analysis.measures.mixing.vector_rollout import TokenVectors, VectorRollout
from analysis.models.norm import Norm
from analysis.models.trace import LayerTrace
from analysis.statistics.mixing import (
    ATTENTION_ROLLOUT,
    SEQUENCE_VECTOR_AGREEMENT,
    SEQUENCE_VECTOR_ROLLOUT,
    VECTOR_COMPLETENESS,
    VECTORS,
)
from analysis.token_types import TOKEN_TYPES
from precompute.passes import mixing as passes
from tests.intervals import assert_ordered
from tests.statistics.mixing.layers import every_order, in_float32, misread
from tests.statistics.mixing.slow_layers import network_part, normalised, slow_gates
from tests.tracing import layers_of, rows_of_tables

Vectors = dict[tuple[int, int | None], Tensor]
"""By the token they are in and the token of the input that they come from, None for the bias."""


def slow_vectors(layers: list[LayerTrace]) -> list[Vectors]:
    """Vectors of input tokens that add up to every token, after each of the layers."""
    inputs = layers[0].input[0]
    n = len(inputs)
    nothing = torch.zeros_like(inputs[0])
    now: Vectors = {(i, j): inputs[i] if i == j else nothing for i in range(n) for j in range(n)}
    now |= {(i, None): nothing for i in range(n)}
    after = []
    for layer in layers:
        now = _after(layer, now)
        after.append(now)
    return after


def _after(layer: LayerTrace, before: Vectors) -> Vectors:
    order, norms = layer.weights.order, list(layer.weights.norms)
    stream = before
    for step in order.attention:
        if step == "attn":
            stream = _attended(layer, stream)
        else:
            stream = _plus(stream, before) if step == "res" else _normed(norms.pop(0), stream)
    now = entering = before if order.is_parallel else stream
    for step in order.network_block:
        if step == "ff":
            now = _network(layer, now)
            now = _plus(now, stream) if order.is_parallel else now
        else:
            now = _plus(now, entering) if step == "res" else _normed(norms.pop(0), now)
    return now


def _plus(some: Vectors, others: Vectors) -> Vectors:
    return {place: vector + others[place] for place, vector in some.items()}


def _attended(layer: LayerTrace, read: Vectors) -> Vectors:
    weights, attention, latent = layer.weights, layer.attention[0], layer.weights.value_latent
    n_heads, n, _ = attention.shape
    gates = slow_gates(layer)
    if latent is not None:
        none = torch.zeros_like(latent.bias)
        biases = {place: latent.bias if place[1] is None else none for place in read}
        made = {place: vector @ latent.weight + biases[place] for place, vector in read.items()}
        read = _normed(latent.norm, made)
    attended: Vectors = {}
    for i, source in read:
        vector = weights.output_bias.clone() if source is None else 0
        for head in range(n_heads):
            for k in range(n):
                value = read[k, source] @ weights.value_weight[head]
                if source is None:
                    value = value + weights.value_bias[head]
                value = value * gates[head, i]
                vector = vector + attention[head, i, k] * (value @ weights.output_weight[head])
        attended[i, source] = torch.as_tensor(vector)
    return attended


def _network(layer: LayerTrace, read: Vectors) -> Vectors:
    weights, wholes = layer.weights.feed_forward, _wholes(read)
    return {
        (i, source): network_part(weights, vector, wholes[i], is_bias=source is None)
        for (i, source), vector in read.items()
    }


def _normed(norm: Norm, parts: Vectors) -> Vectors:
    wholes = _wholes(parts)
    return {
        (i, source): normalised(norm, vector, wholes[i], is_bias=source is None)
        for (i, source), vector in parts.items()
    }


def _wholes(parts: Vectors) -> dict[int, Tensor]:
    """Sum of the parts of every token: its own vector in the model."""
    wholes: dict[int, Tensor] = {}
    for (i, _), vector in parts.items():
        wholes[i] = wholes[i] + vector if i in wholes else vector
    return wholes


def rolled(layers: list[LayerTrace], **how: Any) -> tuple[TokenVectors, ...]:
    rollout = VectorRollout(layers[0].input[0], **how)
    return tuple(rollout.pass_layer(layer) for layer in layers)


@pytest.fixture(scope="module")
def stacks(traced_alone) -> list[list[LayerTrace]]:
    """The layers of every sequence."""
    return [list(trace.layers) for trace in traced_alone]


@pytest.fixture(scope="module")
def stack(stacks) -> list[LayerTrace]:
    """The layers of the shortest sequence, which is fast enough to be written out."""
    return min(stacks, key=lambda layers: layers[0].input.shape[1])


@pytest.fixture(scope="module")
def written_out(stack) -> list[Vectors]:
    return slow_vectors(stack)


@every_order
def test_vectors_are_what_their_slow_twin_writes_out(stack, written_out):
    for layer, rollout, expected in zip(stack, rolled(stack), written_out, strict=True):
        assert rollout.error < 1e-12
        for i, row in enumerate(rollout.map):
            assert rollout.bias[i].item() == pytest.approx(expected[i, None].norm().item())
            norms = [expected[i, j].norm().item() for j in range(len(row))]
            assert row.tolist() == pytest.approx(norms, rel=1e-9, abs=1e-12)
            summed = torch.stack([vector for (to, _), vector in expected.items() if to == i])
            torch.testing.assert_close(summed.sum(dim=0), layer.output[0, i])


@every_order
@pytest.mark.parametrize("budget", [1, 3000])
def test_the_budget_changes_no_number(stacks, budget):
    for full, cut in zip(rolled(stacks[0]), rolled(stacks[0], budget=budget), strict=True):
        torch.testing.assert_close(cut.map, full.map, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(cut.bias, full.bias, rtol=1e-12, atol=1e-12)


@every_order
def test_float32_stays_close_to_float64(stacks):
    for layers in stacks:
        narrow = rolled([in_float32(layer) for layer in layers])
        for wide, rough in zip(rolled(layers), narrow, strict=True):
            assert rough.error < 1e-4
            torch.testing.assert_close(rough.map.double(), wide.map, rtol=1e-3, atol=1e-4)


@every_order
@pytest.mark.parametrize(
    "fault", ["value_bias", "value_weight", "output_bias", "norms.0.shift",
              "norms.0.scale", "feed_forward.output_bias", "norms.-1.shift"],
)  # fmt: skip
def test_a_misread_layer_is_noticed_after_it_and_after_all_that_follow(stacks, fault):
    first, *others = stacks[0]
    rollouts = rolled([misread(first, fault), *others])
    assert min(rollout.error for rollout in rollouts) > 1e-2


FOLLOWED = 1
"""Index of the tiny sequence that is followed, a short one."""
TABLES = (
    SEQUENCE_VECTOR_ROLLOUT,
    SEQUENCE_VECTOR_AGREEMENT,
    VECTOR_COMPLETENESS,
)


def test_rows_are_about_followed_sequences(tiny, sequences, traced_alone):
    followed = frozenset({FOLLOWED})
    found = rows_of_tables(TABLES, tiny, sequences, checked=followed)
    shares, agreement, sums = (found[table.name].to_pandas() for table in TABLES)
    layers = layers_of(tiny, sequences, checked=followed)
    scopes = layers[0].batch.order.scopes
    n_tokens = len(sequences[FOLLOWED])
    is_seen = tiny.layers[0].pairs(n_tokens).numpy()
    i, j = np.nonzero(is_seen)
    kinds = np.array(TOKEN_TYPES)[sequences[FOLLOWED].token_types[j]]
    edges = np.array(DISTANCES)[distance_places(n_tokens)[i, j]]
    rolled_maps = dict.fromkeys((*scopes, ATTENTION_ROLLOUT), np.eye(n_tokens))
    vectors = rolled(list(traced_alone[FOLLOWED].layers))
    assert all(set(frame["seq"]) == {FOLLOWED} for frame in (shares, agreement, sums))
    agreement = agreement.set_index(["layer", "scope"])["spearman"]
    for index, (layer, of_layer) in enumerate(zip(layers, vectors, strict=True), start=1):
        share = (of_layer.map / of_layer.map.sum(dim=1, keepdim=True)).numpy()
        group = shares[shares["layer"] == index]
        by_cell = {(row.token_type, row.distance): row.share for row in group.itertuples()}
        expected = pd.Series(share[i, j] / n_tokens).groupby([kinds, edges]).sum()
        assert by_cell == pytest.approx(expected.to_dict(), rel=1e-5)
        maps = dict(zip(scopes, layer.mixing_of(FOLLOWED).maps.numpy(), strict=True))
        maps[ATTENTION_ROLLOUT] = (maps["attn_w"] + np.eye(n_tokens)) / 2
        for scope, matrix in maps.items():
            product = matrix / matrix.sum(axis=1, keepdims=True) @ rolled_maps[scope]
            rolled_maps[scope] = product
            correlation = spearmanr(share[is_seen], product[is_seen])[0]
            assert agreement[index, scope] == pytest.approx(correlation, abs=1e-6)
        row = sums[sums["layer"] == index].iloc[0]
        parts = torch.cat([of_layer.map, of_layer.bias[:, None]], dim=1)
        biases = (parts[:, -1] / parts.sum(dim=1)).mean().item()
        assert row["bias_share"] == pytest.approx(biases, rel=1e-5)
        assert row["relative_error"] < 1e-6


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_sequences_whose_vectors_take_too_much_memory_are_left_out(tiny, sequences, monkeypatch):
    """The limit is that of a sequence by itself, whatever it is batched with."""
    lengths = sorted(map(len, sequences))
    width = tiny.layers[0].query_weight.shape[1]
    monkeypatch.setattr(passes, "MOST_VECTOR_BYTES", lengths[1] ** 2 * width * 4)
    found = rows_of_tables(TABLES, tiny, sequences, checked=frozenset(range(len(sequences))))
    short = {sequence.index for sequence in sequences if len(sequence) <= lengths[1]}
    assert len(short) == 2
    for rows in found.values():
        assert set(rows["seq"].to_pylist()) == short
    for table, rows in rows_of_tables(TABLES, tiny, sequences).items():
        assert (rows.num_rows, rows.schema) == (0, found[table].schema)


def test_means_stand_beside_those_of_the_same_sequences(masked_store, layer_order):
    scopes = [VECTORS, *layer_order.scopes, ATTENTION_ROLLOUT]
    rows = masked_store.sql("from vector_rollout").df()
    assert set(rows["scope"]) == set(scopes)
    parts = {
        scope: masked_store.execute(
            "select seq, layer, token_type, distance, share from sequence_rollout "
            "where scope = $scope",
            {"scope": scope},
        ).df()
        for scope in scopes[1:]
    }
    parts[VECTORS] = masked_store.execute("from sequence_vector_rollout").df()
    for kind in ("token_type", "distance"):
        chosen = rows[rows[kind].notna()].set_index(["scope", "layer", kind]).sort_index()
        vectors = chosen.loc[VECTORS, "mean"]
        for scope, frame in parts.items():
            sums = frame.groupby(["layer", kind], observed=True)["share"].sum() / 3
            of_scope = chosen.loc[scope]
            np.testing.assert_allclose(of_scope["mean"].sort_index(), sums.sort_index(), rtol=1e-5)
            if scope == VECTORS:
                assert of_scope["difference"].isna().all()
            else:
                more = vectors - of_scope["mean"]
                np.testing.assert_allclose(of_scope["difference"], more, atol=1e-9)
                ends = (of_scope["difference_low"], of_scope["difference_high"])
                assert_ordered(ends[0], of_scope["difference"], ends[1])


def test_distances_fall_between_their_edges():
    distances = np.array(DISTANCES)[distance_places(200)[0]]
    expected = [next(e for e in reversed(DISTANCES) if e <= d) for d in range(200)]
    assert distances.tolist() == expected
