"""Texts run again without a head, against hooks that take one out at a time."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from analysis.effects import FILLINGS, MEAN, ZERO
from analysis.measures.heads.head_effect import TypeMeans
from analysis.token_types import OTHER, TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.corpora.token_types import masked
from precompute.models.loaded_model import LoadedModel
from precompute.passes import head_effects as passes
from tests.statistics.heads.hooks import (
    ROUNDING,
    answer,
    assert_same,
    effects,
    expected_changes,
    named,
    predicted,
    put,
    targets_of,
)
from tests.tiny import every_model, mask_rate, tiny_model, tiny_sequences
from tests.tracing import trace_of

OUTPUTS = {
    "bert": "encoder.layer.{}.attention.output.dense",
    "gpt2": "h.{}.attn.c_proj",
    "deberta-v2": "encoder.layer.{}.attention.output.dense",
    "afmoe": "layers.{}.self_attn.o_proj",
    "gpt_oss": "layers.{}.self_attn.o_proj",
    "youtu": "layers.{}.self_attn.o_proj",
    "gpt_neox": "layers.{}.attention.dense",
    "vit": "layers.{}.attention.o_proj",
}
"""Output projections of attention of every build: gates, latents, sinks, terms of offsets."""
VALUES = {
    "afmoe": "layers.{}.self_attn.v_proj",
    "bert": "encoder.layer.{}.attention.self.value",
    "vit": "layers.{}.attention.v_proj",
    "llama": "layers.{}.self_attn.v_proj",
}
PREDICTING = ("bert", "gpt2")


def seen(model: LoadedModel, names: Mapping[str, str], sequences: tuple[Sequence, ...]):
    """Means by layer and type of what output projections are given, or value projections return."""
    rows: dict[tuple[int, int], list[np.ndarray]] = {}
    kind = "given" if names is OUTPUTS else "returned"
    for sequence in sequences:

        def keep(tensor: Tensor, layer: int, types=sequence.token_types) -> Tensor:
            for token, row in zip(types.tolist(), tensor[0].numpy(), strict=True):
                rows.setdefault((layer, token), []).append(row)
            return tensor

        hooks = {
            names[model.name].format(layer): partial(keep, layer=layer)
            for layer in range(len(model.layers))
        }
        answer(model, sequence, **{kind: hooks})
    return {key: sum(of) / len(of) for key, of in rows.items()}


def texts(model: LoadedModel) -> tuple[Sequence, ...]:
    """One or two texts or images, with masked tokens if there is a mask and they are predicted."""
    rate = mask_rate(model.name, 0.3) if model.language_model is not None else 0
    return tuple(
        masked(sequence, model.tokenizer, rate=rate, seed=1) if rate else sequence
        for sequence in tiny_sequences(model.name)[: 1 + (model.name in PREDICTING)]
    )


@pytest.fixture(scope="module")
def model(family) -> LoadedModel:
    return tiny_model(family, predicts_tokens=family in PREDICTING)


@pytest.mark.parametrize("family", OUTPUTS, indirect=True, scope="session")
def test_heads_together_and_alone_change_what_hooks_change(model, monkeypatch):
    monkeypatch.setattr(passes, "ASKED", 10**6)
    monkeypatch.setattr(passes, "TOKENS", 70)  # several runs per layer
    sequences = texts(model)
    rows, means = effects(model, sequences), seen(model, OUTPUTS, sequences)
    every_head = [*range(len(model.layers[0].query_weight))]
    for sequence in sequences:
        before = answer(model, sequence)
        for layer in range(len(model.layers)):
            name = OUTPUTS[model.name].format(layer)
            mean = np.stack([means[layer, kind] for kind in sequence.token_types.tolist()])
            for heads in (*([head] for head in every_head), every_head):
                for filling, instead in ((MEAN, mean), (ZERO, 0.0)):
                    hooks = {name: put(model, heads, instead)}
                    expected = expected_changes(model, sequence, before, given=hooks)
                    head = heads[0] if len(heads) == 1 else None
                    place = {"seq": sequence.index, "filling": filling, "layer": layer}
                    assert_same(named(rows, **place, head=head), expected)
    assert rows["length"].max() > 0.01, "this test could not have failed"
    assert rows["divergence"].notna().all() == (
        model.classifier is not None or model.name in PREDICTING
    )
    assert rows["loss"].notna().all() == (model.name in PREDICTING)


@pytest.mark.parametrize("family", VALUES, indirect=True, scope="session")
def test_tokens_of_a_type_bring_what_hooks_on_their_values_leave(model):
    sequences = texts(model)
    rows, means = effects(model, sequences), seen(model, VALUES, sequences)
    for sequence in sequences:
        types, before = sequence.token_types, answer(model, sequence)
        n_layers = len(model.layers)
        for kind in set(types.tolist()) - {OTHER}:
            for filling in FILLINGS:

                def change(values: Tensor, layer: int, kind=kind, filling=filling, types=types):
                    values, mean = values.clone(), torch.from_numpy(means[layer, kind])
                    values[0, torch.from_numpy(types == kind)] = mean if filling == MEAN else 0
                    return values

                hooks = {
                    VALUES[model.name].format(layer): partial(change, layer=layer)
                    for layer in range(n_layers)
                }
                for layer, some in (*enumerate(hooks), (None, None)):
                    chosen = hooks if some is None else {some: hooks[some]}
                    expected = expected_changes(model, sequence, before, returned=chosen)
                    place = {"seq": sequence.index, "filling": filling, "layer": layer}
                    found = named(rows, **place, token_type=TOKEN_TYPES[kind])
                    assert_same(found, expected)


@every_model
def test_nothing_replaced_changes_nothing_from_whichever_layer_on(tiny, sequences):
    text, before, _ = tiny.recorded(sequences[0], 3)
    for first in range(len(tiny.layers) + 1):
        after = text.again(first, 2, lambda _index, _attended, _read, mixed: mixed)
        np.testing.assert_allclose(after.hidden[1:], before.hidden, **ROUNDING)
    halved = [
        text.again(first, 1, lambda index, _attended, _read, mixed: mixed / 2 if index else mixed)
        for first in (0, 1)
    ]
    np.testing.assert_allclose(halved[0].hidden, halved[1].hidden, **ROUNDING)
    assert not np.allclose(halved[0].hidden, before.hidden, rtol=1e-3)


def test_means_are_of_what_heads_mix_by_the_type_of_the_token(tiny, sequences):
    found = tiny.type_means(sequences)
    mixed: dict[tuple[int, int], list[np.ndarray]] = {}
    for sequence in sequences:
        for index, layer in enumerate(trace_of(tiny, [sequence]).layers):
            for token, kind in enumerate(sequence.token_types.tolist()):
                mixed.setdefault((index, kind), []).append(layer.mixed[0, :, token].numpy())
    for (index, kind), rows in mixed.items():
        of_type = found[index].of(torch.tensor([kind])).mixed[:, 0]
        np.testing.assert_allclose(of_type, np.mean(rows, axis=0), **ROUNDING)
    nothing = TypeMeans()
    [layer, *_] = trace_of(tiny, sequences[:1]).layers
    nothing.add(layer, torch.zeros(len(sequences[0]), dtype=torch.long))
    assert nothing.of(torch.tensor([1])).values.isnan().all(), "no mean of a type without tokens"


def test_a_language_model_is_asked_about_a_few_tokens_that_have_a_target(monkeypatch):
    model = tiny_model("gpt2", predicts_tokens=True)
    [sequence] = tiny_sequences("gpt2")[:1]
    monkeypatch.setattr(passes, "ASKED", 2)
    few = effects(model, (sequence,))
    before = answer(model, sequence)
    hooks = {OUTPUTS["gpt2"].format(0): put(model, [0], 0.0)}
    _, logits = answer(model, sequence, given=hooks)
    known = targets_of(model, sequence)
    expected = predicted(before[1], logits, {p: known[p] for p in (0, len(known) // 2)})
    found = named(few, seq=sequence.index, filling=ZERO, layer=0, head=0)
    np.testing.assert_allclose(
        [found["divergence"], found["loss"]], [*expected.values()], **ROUNDING
    )
