"""Texts run again without a head: layers that are one module, few heads, bfloat16."""

from dataclasses import replace
from itertools import count, product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AlbertConfig, AlbertModel

from analysis.effects import ZERO
from analysis.models.reading import read_model
from precompute.models.loaded_model import LoadedModel
from tests.statistics.heads.hooks import (
    answer,
    assert_same,
    effects,
    expected_changes,
    named,
    put,
)
from tests.tiny import tiny_model, tiny_sequences
from tests.tiny_decoders import make_exact

SHARED = "encoder.albert_layer_groups.0.albert_layers.0.attention.dense"


def built(kind: Any, of_config: Any, **sizes: int) -> LoadedModel:
    """A random model of a shape that no family of the tests has, in float64."""
    bert = tiny_model("bert")
    config = of_config(
        vocab_size=len(bert.tokenizer),
        hidden_size=24,
        intermediate_size=32,
        initializer_range=0.3,
        **sizes,
    )
    torch.manual_seed(0)
    model = kind(config).eval().to(torch.float64)
    make_exact(model)
    reading = read_model(model)
    return replace(bert, model=model, reading=reading, layers=reading.layers)


def test_of_a_layer_that_is_called_again_and_again_one_call_is_changed():
    """As in ALBERT, whose layers are one module."""
    sizes = {"embedding_size": 8, "num_hidden_layers": 3, "num_attention_heads": 3}
    shared = built(AlbertModel, AlbertConfig, **sizes)
    [sequence] = tiny_sequences("bert")[:1]
    rows, before = effects(shared, (sequence,)), answer(shared, sequence)
    for layer, head in product(range(3), repeat=2):

        def change(mixed: Tensor, layer=layer, heads=(head,), calls=count()) -> Tensor:  # noqa: B008
            return put(shared, [*heads], 0.0)(mixed) if next(calls) == layer else mixed

        expected = expected_changes(shared, sequence, before, given={SHARED: change})
        place = {"seq": sequence.index, "filling": ZERO, "layer": layer, "head": head}
        assert_same(named(rows, **place), expected)
    assert rows["length"].max() > 0.01, "this test could not have failed"


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_in_bfloat16_effects_are_those_of_float64_up_to_its_rounding(family):
    exact, rounded = (tiny_model(family, dtype=of) for of in (torch.float64, torch.bfloat16))
    rounded = replace(rounded, dtype="bfloat16")
    sequences = tiny_sequences(family)[:2]
    text, before, _ = rounded.recorded(sequences[0], 3)
    after = text.again(0, 3, lambda _index, _attended, _read, mixed: mixed)
    np.testing.assert_allclose(after.hidden.float(), before.hidden.float().repeat(3, 1, 1), 0.02)
    found, expected = (effects(model, sequences)["length"] for model in (rounded, exact))
    np.testing.assert_allclose(found, expected, atol=0.1)
    assert np.corrcoef(found, expected)[0, 1] > 0.99
