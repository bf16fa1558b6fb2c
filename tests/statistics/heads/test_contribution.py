"""Signed shares of updates: against parts that are written out, and laws."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.effects import OF_PARTS, PARTS, REST
from analysis.measures.heads.contribution import contributions
from analysis.statistics.heads.single_heads import CONTRIBUTION, SEQUENCE_CONTRIBUTION
from analysis.token_types import TOKEN_TYPES
from tests.reference.transformed_vectors import norm, vectors_of
from tests.statistics.fits import made, store_of
from tests.tiny import every_model, tiny_model, tiny_sequences
from tests.tracing import rows_of_table, trace_of


def shares_of(model, sequences) -> pd.DataFrame:
    rows = rows_of_table(SEQUENCE_CONTRIBUTION, model, sequences).to_pandas()
    return rows.astype({"part": str, "token_type": object})


@every_model
def test_heads_and_the_rest_sum_to_the_update_and_so_do_types_of_tokens(tiny, sequences):
    [sequence] = sequences[:1]
    types = torch.from_numpy(sequence.token_types)
    for layer in trace_of(tiny, [sequence]).layers:
        found = contributions(layer, types == types.unique()[:, None])[:, 0]
        heads, rest = found[: len(layer.weights.output_weight)], found[-len(REST) :]
        kinds = found[len(heads) : -len(REST)]
        for attention in (heads, kinds):
            total = attention.sum(dim=0) + rest.sum(dim=0)
            np.testing.assert_allclose(total, np.ones(len(sequence)), rtol=1e-9)


def written_out(layer, n_tokens: int) -> list[list[Any]]:
    """Part by part and token by token: the vectors that make up a BERT layer's update, in loops."""
    block, other = (
        norms[0] for norms in (layer.weights.norms_by_stage[1], layer.weights.norms_by_stage[3])
    )

    def linear(vector, whole, of):
        mean, size = sum(vector) / len(vector), sum(whole) / len(whole)
        spread = sum((w - size) ** 2 for w in whole) / len(whole)
        return [
            (v - mean) / math.sqrt(spread + of.epsilon) * float(scale)
            for v, scale in zip(vector, of.scale, strict=True)
        ]

    def add(*vectors) -> list[float]:
        return [sum(parts) for parts in zip(*vectors, strict=True)]

    width, bias = layer.input.shape[-1], layer.weights.output_bias.tolist()
    attention = layer.attention[0].tolist()
    made_by = [vectors_of(layer, 0, head, n_tokens) for head in range(len(attention))]
    parts = list[list[Any]]()
    for i in range(n_tokens):
        heads: list[list[float]] = [
            [sum(a * f[c] for a, f in zip(weights[i], made, strict=True)) for c in range(width)]
            for weights, made in zip(attention, made_by, strict=True)
        ]
        own, given = layer.input[0, i].tolist(), layer.output[0, i].tolist()
        first = add(own, bias, *heads)
        middle = add(linear(first, first, block), block.shift.tolist())
        network = layer.weights.feed_forward
        hidden = torch.tensor(middle).double() @ network.input_weight + network.input_bias
        hidden = torch.nn.functional.gelu(hidden)
        sent = (hidden @ network.output_weight + network.output_bias).tolist()
        last = add(middle, sent)

        def through(vector, first=first, last=last):
            return linear(linear(vector, first, block), last, other)

        of_bias = add(
            through(bias), linear(block.shift.tolist(), last, other), other.shift.tolist()
        )
        residual = add(through(own), [-x for x in own])
        parts.append([*map(through, heads), linear(sent, last, other), residual, of_bias])
        parts[-1].append([a - b for a, b in zip(given, own, strict=True)])
        parts[-1].append([norm(head) for head in heads])
    return parts


def test_parts_are_those_that_are_written_out():
    model, sequence = tiny_model("bert"), tiny_sequences("bert")[0]
    for layer in trace_of(model, [sequence]).layers:
        everything = torch.ones(1, len(sequence), dtype=torch.bool)
        found = contributions(layer, everything).numpy()
        n_heads = len(layer.weights.output_weight)
        for i, (*parts, update, norms) in enumerate(written_out(layer, len(sequence))):
            of_parts = [*found[:n_heads, :, i], *found[-len(REST) :, :, i]]
            norms += [math.nan] * len(REST)
            for part, size, of_part in zip(parts, norms, of_parts, strict=True):
                along = sum(a * b for a, b in zip(part, update, strict=True))
                expected = [along / norm(update) ** 2, norm(part) / norm(update), size]
                assert of_part == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True)
            assert found[n_heads, 0, i] == pytest.approx(found[:n_heads, 0, i].sum())


def test_tables_hold_means_over_texts_of_every_part():
    rows = pd.DataFrame(
        [
            (0, 1, "head", 1, None, 0.5, 0.6, 2.0),
            (1, 1, "head", 1, None, -0.3, 0.4, 4.0),
            (0, 1, "token_type", None, "cls", 0.2, 0.2, 1.0),
            (0, 1, "network", None, None, 0.9, 1.0, None),
        ],
        columns=["seq", "layer", "part", "head", "token_type", *OF_PARTS],
    ).astype({"head": "Int8"})
    with store_of(sequence_contribution=rows) as store:
        found = made(CONTRIBUTION, store).astype({"part": str, "quantity": str})
    means = found.set_index(["part", "quantity"])["mean"].to_dict()
    assert means == pytest.approx(
        {
            ("head", "share"): 0.1,
            ("head", "length"): 0.5,
            ("head", "norm"): 3.0,
            ("token_type", "share"): 0.2,
            ("token_type", "length"): 0.2,
            ("token_type", "norm"): 1.0,
            ("network", "share"): 0.9,
            ("network", "length"): 1.0,
        }
    )


def test_rows_are_of_each_text_and_of_every_part_it_has(tiny, sequences):
    rows = shares_of(tiny, sequences)
    for sequence in sequences:
        of_text = rows[(rows["seq"] == sequence.index) & (rows["layer"] == 1)]
        kinds = {TOKEN_TYPES[kind] for kind in sequence.token_types.tolist()}
        assert set(of_text["token_type"].dropna()) == kinds
        assert set(of_text["part"]) == set(PARTS)
        assert len(of_text) == len(tiny.layers[0].query_weight) + len(kinds) + len(REST)
