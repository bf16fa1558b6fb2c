"""Whole layers as sums over their tokens, against every vector of every pair written out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from analysis.errors import UserError
from analysis.measures.mixing import layer_mixing as formula
from analysis.measures.mixing.completeness import token_errors, visible_share, worst_token
from analysis.measures.mixing.layer_mixing import attention_mixing, layer_mixing
from analysis.measures.mixing.linear_layer import LinearNorm, linear_layer
from analysis.measures.mixing.map_similarity import map_similarities
from analysis.measures.mixing.rollout import DISTANCES, distance_places
from analysis.measures.mixing.vector_rollout import TokenVectors, VectorRollout
from analysis.models.trace import LayerTrace
from analysis.statistics.mixing import (
    ATTENTION_ROLLOUT,
    MIXING_RATIO,
    SEQUENCE_ROLLOUT,
    SEQUENCE_VECTOR_AGREEMENT,
    SEQUENCE_VECTOR_ROLLOUT,
    VECTOR_COMPLETENESS,
    VECTOR_ROLLOUT,
    VECTORS,
)
from analysis.token_types import TOKEN_TYPES
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.massive import FAULTS, massive_model, misread_unproved
from tests.small_store import fetched, request
from tests.statistics.fits import made, store_of
from tests.statistics.mixing import slow_layers as twin
from tests.statistics.mixing.slow_layers import (
    every_order,
    in_float32,
    layer_sums,
    tokens_themselves,
)
from tests.tracing import layers_of, rows_of_tables


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
def test_neither_budget_nor_format_is_seen_and_rough_formats_tell_their_error(layers, monkeypatch):
    layer = min(layers, key=lambda layer: layer.input.shape[1])
    wide, block, narrow = layer_mixing(layer), attention_mixing(layer), in_float32(layer)
    monkeypatch.setattr(formula, "MOST_SHARES", 100)
    for cut in (layer_mixing(layer), layer_mixing(layer, budget=1)):
        torch.testing.assert_close(cut.maps, wide.maps, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(cut.ratios, wide.ratios, rtol=1e-12, atol=1e-12)
        assert cut.errors.max() < 1e-12
    torch.testing.assert_close(attention_mixing(layer), block, rtol=1e-12, atol=1e-12)
    single, rough = layer_mixing(narrow), layer_mixing(layer, dtype=torch.bfloat16)
    assert single.errors.max() < 1e-5
    torch.testing.assert_close(single.maps.double(), wide.maps, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(rough.maps[:4], wide.maps[:4])
    if layer.weights.order.is_parallel:  # no pair has a hidden vector of its own
        torch.testing.assert_close(rough.maps, wide.maps)
    else:
        assert 1e-5 < rough.errors.max() < 5e-2


@every_order
def test_steps_are_those_of_the_order(tiny, traced):
    given, order = linear_layer(traced.layers[0]), tiny.layers[0].order
    stages = (given.read, given.after_attention, given.to_network, given.after_network)
    for steps, names in zip(stages, order.stages, strict=True):
        assert ["ln" if isinstance(step, LinearNorm) else step for step in steps] == list(names)


@given(arrays(np.float64, (3, 12), elements=st.integers(0, 5).map(float)))
def test_maps_full_of_ties_compare_by_mid_ranks(maps):
    found = map_similarities(maps)
    np.testing.assert_allclose(found, pd.DataFrame(maps.T).corr(method="spearman"), atol=1e-12)


def test_long_sequences_weigh_more_and_few_have_no_interval():
    """One of 99 tokens at 0.9 among eleven of one token at 0: 90 / 110, not 0.9 / 12."""
    rows = pd.DataFrame({"seq": range(12), "mean": [0.9] + [0.0] * 11, "n": [99] + [1] * 11})
    rows = rows.assign(layer=1, scope="attn_w", token_type="all", m2=0.0, min=0.0, max=1.0)
    for n, ends in ((12, (0, 3 * 89.1 / (3 * 99 + 9))), (9, (np.nan, np.nan))):
        with store_of(sequence_mixing_ratio=rows[:n]) as store:
            [row] = made(MIXING_RATIO, store).query("layer.isna()").to_dict("records")
        assert row["mean"] == pytest.approx(89.1 / (98 + n))
        assert (row["low"], row["high"]) == pytest.approx(ends, rel=0.01, nan_ok=True)


def rolled(layers: Sequence[LayerTrace], **how: Any) -> tuple[TokenVectors, ...]:
    rollout = VectorRollout(layers[0].input[0], **how)
    return tuple(rollout.pass_layer(layer) for layer in layers)


@every_order
def test_vectors_are_what_their_slow_twin_writes_out(traced_alone):
    """The layers of the shortest sequence, which is fast enough to be written out."""
    stack = min((trace.layers for trace in traced_alone), key=lambda of: of[0].input.shape[1])
    expected = tokens_themselves(stack[0].input[0])
    for layer, rollout in zip(stack, rolled(stack), strict=True):
        *_, expected = layer_sums(layer, expected).values()
        assert rollout.error < 1e-12
        torch.testing.assert_close(rollout.bias, expected.bias.norm(dim=-1))
        norms = expected.parts.norm(dim=-1)
        torch.testing.assert_close(rollout.map, norms, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(expected.whole, layer.output[0])


def test_neither_budget_nor_format_is_seen_and_a_misread_layer_in_all_that_follow(traced_alone):
    layers = traced_alone[0].layers
    rough = rolled([in_float32(layer) for layer in layers])
    for full, cut, narrow in zip(rolled(layers), rolled(layers, budget=1), rough, strict=True):
        torch.testing.assert_close(cut.map, full.map, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(cut.bias, full.bias, rtol=1e-12, atol=1e-12)
        assert narrow.error < 1e-4
        torch.testing.assert_close(narrow.map.double(), full.map, rtol=1e-3, atol=1e-4)
    first, *others = layers
    misread = replace(first.weights, output_weight=first.weights.output_weight.flip(0))
    rollouts = rolled([replace(first, weights=misread), *others])
    assert min(rollout.error for rollout in rollouts) > 1e-2


FOLLOWED = 1
"""Index of the tiny sequence that is followed, a short one."""
TABLES = SEQUENCE_VECTOR_ROLLOUT, SEQUENCE_VECTOR_AGREEMENT, VECTOR_COMPLETENESS


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
    vectors = rolled(traced_alone[FOLLOWED].layers)
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


def slow_errors(output, parts, against, *, visible: float) -> np.ndarray:
    """Error of each token's sum of parts, relative to the length of one vector; coordinates are
    measured in their largest size among all tokens."""
    sizes = np.maximum(abs(against), visible * sum(abs(part) for part in parts))
    missed = (output - sum(parts)) / sizes.max(axis=0)
    return np.linalg.norm(missed, axis=1) / np.linalg.norm(sizes / sizes.max(axis=0), axis=1)


def _missing(by: float) -> list[torch.Tensor]:
    """An output and the three parts of it, with a planted error."""
    draw = torch.Generator().manual_seed(0)
    *parts, error = torch.randn(4, 5, 7, dtype=torch.float64, generator=draw)
    parts[0] *= 10
    parts[0][:2] = -0.9 * (parts[1] + parts[2])[:2]  # whose outputs are shorter than their updates
    return [sum(parts, by * error), *parts]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_errors_follow_their_slow_twin_against_output_and_update(dtype):
    output, *parts = _missing(0.1)
    update = parts[1] + parts[2]
    errors = token_errors(output, parts, [output, update], dtype)
    vectors = [part.numpy() for part in parts]
    slow = [
        slow_errors(output.numpy(), vectors, against.numpy(), visible=visible_share(dtype))
        for against in (output, update)
    ]
    np.testing.assert_allclose(errors, np.maximum(*slow))
    assert len({pair[0] < pair[1] for pair in zip(*slow, strict=True)}) == 2, "each counts once"


def test_what_is_no_number_is_refused():
    for place, fault in enumerate((np.nan, np.inf, -np.inf, np.nan)):
        tensors = _missing(0)
        tensors[place][3, 4] = fault
        update = tensors[0] - tensors[1]
        errors = token_errors(tensors[0], tensors[1:], [tensors[0], update], torch.float32)
        worst, position, _ = worst_token(errors)
        assert not worst <= 1e-3
        assert position == 3 or not errors[position].isfinite()


def test_a_massive_activation_is_published_with_the_worst_token_unless_misread(
    tmp_path, monkeypatch
):
    """One of 3000, at the second token of every text."""
    massive = massive_model("gpt2", "first")
    massive.model.save_pretrained(tmp_path / "model-gpt2")
    massive.tokenizer.save_pretrained(tmp_path / "model-gpt2")
    asked = request(tmp_path, "gpt2", statistics=["layer_completeness"])
    run(asked, run_local)
    columns = "select layer, relative_error, seq, worst_pos, percentile_99 from"
    parts = fetched(asked.output, f"{columns} layer_completeness")
    parts += fetched(asked.output, f"{columns} sequence_completeness")
    names = "layer, worst_relative_error, worst_seq, worst_pos, percentile_99"
    seen = fetched(asked.output, f"select {names} from completeness order by layer")
    assert [row[0] for row in seen] == [1, 2]
    for row in seen:
        of_layer = [part for part in parts if part[0] == row[0]]
        assert row[:4] in [part[:4] for part in of_layer]
        assert row[1] == max(part[1] for part in of_layer) < 1e-3
        assert row[4] == max(part[4] for part in of_layer) <= row[1]
    misread_unproved(monkeypatch, FAULTS["wrong activation"])
    again = replace(asked, output=tmp_path / "misread" / "tiny.duckdb")
    with pytest.raises(UserError, match="the parts of the whole layer at position"):
        run(again, run_local)
    assert not again.output.exists()
