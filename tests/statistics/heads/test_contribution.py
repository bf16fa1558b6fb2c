"""Signed shares of updates: against parts that are written out, and laws."""

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analysis.effects import PARTS, REST
from analysis.measures.heads.contribution import contributions
from analysis.models.trace import LayerTrace
from analysis.statistics.heads.single_heads import SEQUENCE_CONTRIBUTION
from analysis.token_types import TOKEN_TYPES
from tests.statistics.mixing.slow_layers import network_part, normalised
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


def written_out(layer: LayerTrace, i: int) -> tuple[Tensor, Tensor]:
    """Vectors that make up a BERT layer's update of a token: of heads and of the rest; the heads'
    own before any norm."""
    weights, own, given = layer.weights, layer.input[0, i], layer.output[0, i]
    f = (
        layer.input[0] @ weights.value_weight + weights.value_bias[:, None]
    ) @ weights.output_weight
    heads = torch.stack([rows[i] @ f[h] for h, rows in enumerate(layer.attention[0])])
    block, other = weights.norms
    first = own + weights.output_bias + heads.sum(dim=0)
    middle = normalised(block, first, first, is_bias=True)
    sent = network_part(weights.feed_forward, middle, middle, is_bias=True)
    last = middle + sent

    def through(part: Tensor, *, is_bias: bool = False) -> Tensor:
        normed = normalised(block, part, first, is_bias=is_bias)
        return normalised(other, normed, last, is_bias=is_bias)

    residual = through(own) - own
    rest = [normalised(other, sent, last), residual, through(weights.output_bias, is_bias=True)]
    parts = torch.stack([*map(through, heads), *rest])
    torch.testing.assert_close(parts.sum(dim=0), given - own)
    return parts, heads


def test_parts_are_those_that_are_written_out():
    model, sequence = tiny_model("bert"), tiny_sequences("bert")[0]
    for layer in trace_of(model, [sequence]).layers:
        everything = torch.ones(1, len(sequence), dtype=torch.bool)
        found, n_heads = contributions(layer, everything), len(layer.weights.output_weight)
        for i, update in enumerate((layer.output - layer.input)[0]):
            parts, heads = written_out(layer, i)
            size = update.norm()
            along, lengths = parts @ update / size**2, parts.norm(dim=1) / size
            of_parts = torch.cat([found[:n_heads, :, i], found[-len(REST) :, :, i]]).T
            torch.testing.assert_close(of_parts[:2], torch.stack([along, lengths]))
            torch.testing.assert_close(of_parts[2, :n_heads], heads.norm(dim=1))
            assert of_parts[2, n_heads:].isnan().all()
            torch.testing.assert_close(found[n_heads, 0, i], along[:n_heads].sum())


def test_rows_are_of_each_text_and_of_every_part_it_has(tiny, sequences):
    rows = shares_of(tiny, sequences)
    for sequence in sequences:
        of_text = rows[(rows["seq"] == sequence.index) & (rows["layer"] == 1)]
        kinds = {TOKEN_TYPES[kind] for kind in sequence.token_types.tolist()}
        assert set(of_text["token_type"].dropna()) == kinds
        assert set(of_text["part"]) == set(PARTS)
        assert len(of_text) == len(tiny.layers[0].query_weight) + len(kinds) + len(REST)
