"""Vectors of input tokens through all layers: against every vector written out, and in a store."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from analysis.measures.mixing.rollout import DISTANCES, distance_places
from analysis.measures.mixing.vector_rollout import TokenVectors, VectorRollout
from analysis.models.trace import LayerTrace
from analysis.statistics.mixing import (
    ATTENTION_ROLLOUT,
    SEQUENCE_ROLLOUT,
    SEQUENCE_VECTOR_AGREEMENT,
    SEQUENCE_VECTOR_ROLLOUT,
    VECTOR_COMPLETENESS,
    VECTOR_ROLLOUT,
    VECTORS,
)
from analysis.token_types import TOKEN_TYPES
from precompute.passes import mixing as passes
from tests.statistics.fits import made, store_of
from tests.statistics.mixing.slow_layers import (
    Sum,
    every_order,
    in_float32,
    layer_sums,
    tokens_themselves,
)
from tests.tracing import layers_of, rows_of_tables


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
def written_out(stack) -> list[Sum]:
    """Vectors of input tokens that add up to every token, after each of the layers."""
    sums = [tokens_themselves(stack[0].input[0])]
    for layer in stack:
        *_, after = layer_sums(layer, sums[-1]).values()
        sums.append(after)
    return sums[1:]


@every_order
def test_vectors_are_what_their_slow_twin_writes_out(stack, written_out):
    for layer, rollout, expected in zip(stack, rolled(stack), written_out, strict=True):
        assert rollout.error < 1e-12
        torch.testing.assert_close(rollout.bias, expected.bias.norm(dim=-1))
        norms = expected.parts.norm(dim=-1)
        torch.testing.assert_close(rollout.map, norms, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(expected.whole, layer.output[0])


@every_order
@pytest.mark.parametrize("budget", [1, 3000])
def test_the_budget_changes_no_number(stacks, budget):
    for full, cut in zip(rolled(stacks[0]), rolled(stacks[0], budget=budget), strict=True):
        torch.testing.assert_close(cut.map, full.map, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(cut.bias, full.bias, rtol=1e-12, atol=1e-12)


@every_order
def test_float32_stays_close_to_float64(stacks):
    narrow = rolled([in_float32(layer) for layer in stacks[0]])
    for wide, rough in zip(rolled(stacks[0]), narrow, strict=True):
        assert rough.error < 1e-4
        torch.testing.assert_close(rough.map.double(), wide.map, rtol=1e-3, atol=1e-4)


@every_order
def test_a_misread_layer_is_noticed_after_it_and_after_all_that_follow(stacks):
    first, *others = stacks[0]
    misread = replace(first.weights, output_weight=first.weights.output_weight.flip(0))
    rollouts = rolled([replace(first, weights=misread), *others])
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


def test_means_stand_beside_those_of_the_same_sequences(tiny, sequences):
    scopes, order = (SEQUENCE_VECTOR_ROLLOUT, SEQUENCE_ROLLOUT), tiny.layers[0].order
    followed = frozenset({0, FOLLOWED, 2})
    found = rows_of_tables(scopes, tiny, sequences, checked=followed)
    with store_of(**found) as store:
        rows = made(VECTOR_ROLLOUT, store, order=order).astype({"scope": str})
    assert set(rows["scope"]) == {VECTORS, *order.scopes, ATTENTION_ROLLOUT}
    parts = pd.concat(frame.to_pandas().astype({"token_type": str}) for frame in found.values())
    parts["scope"] = parts["scope"].astype(object).fillna(VECTORS)
    parts = parts[parts["seq"].isin(followed)]
    for kind, as_key in (("token_type", str), ("distance", int)):
        key = ["scope", "layer", kind]
        of_kind: Any = rows[rows[kind].notna()].astype({kind: as_key}).set_index(key).sort_index()
        means = parts.astype({kind: as_key}).groupby(key)["share"].sum() / len(followed)
        np.testing.assert_allclose(of_kind["mean"], means.reindex(of_kind.index), rtol=1e-5)
        for scope in (*order.scopes, ATTENTION_ROLLOUT):
            more = of_kind.loc[VECTORS, "mean"] - of_kind.loc[scope, "mean"]
            np.testing.assert_allclose(of_kind.loc[scope, "difference"], more, atol=1e-9)
        assert of_kind.loc[VECTORS, "difference"].isna().all()
