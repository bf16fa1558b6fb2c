"""Texts run again without a head, against hooks; what predicts these effects; shares of updates."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import softmax
from scipy.stats import spearmanr
from torch import Tensor

from analysis.effects import CHANGES, FILLINGS, MEAN, MEASURES, RANDOM, REST, ZERO
from analysis.measures.heads.contribution import contributions
from analysis.measures.heads.effect_prediction import Draws, OfHeads, chance, rank_correlations
from analysis.measures.heads.head_effect import TypeMeans
from analysis.models.trace import LayerTrace
from analysis.statistics.heads.single_heads import EFFECT_PREDICTION, SEQUENCE_HEAD_EFFECT
from analysis.token_types import OTHER, TOKEN_TYPES
from precompute.corpora.encode import masked
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes import heads as passes
from tests.statistics.fits import made, store_of
from tests.statistics.mixing.slow_layers import every_order, network_part, normalised
from tests.tiny import every_model, mask_rate, tiny_model, tiny_sequences
from tests.tracing import rows_of_table, trace_of

ROUNDING: dict[str, Any] = {"rtol": 2e-5, "atol": 2e-6}
"""The library's softmax is in float32 in most models."""
Changes = Mapping[str, Callable[[Tensor], Tensor]]
OUTPUTS = {
    "bert": "encoder.layer.{}.attention.output.dense",
    "gpt2": "h.{}.attn.c_proj",
    "afmoe": "layers.{}.self_attn.o_proj",
    "vit": "layers.{}.attention.o_proj",
}
"""Output projections: of models that predict words, of one with gates, and of a classifier."""
VALUES = {"bert": "encoder.layer.{}.attention.self.value", "afmoe": "layers.{}.self_attn.v_proj"}
PREDICTING = ("bert", "gpt2")


def answer(model: LoadedModel, sequence: Sequence, changes: Changes) -> tuple[np.ndarray, Any]:
    """Last hidden states and logits of a text, with what output projections are given or value
    projections return changed."""
    whole, states = model.language_model or model.classifier or model.model, []
    with ExitStack() as stack, torch.no_grad():
        for name, change in changes.items():
            module = model.model.get_submodule(name)
            if name.rpartition(".")[2] in ("dense", "c_proj", "o_proj"):
                hook = module.register_forward_pre_hook(
                    lambda _module, args, change=change: (change(args[0]),)
                )
            else:
                hook = module.register_forward_hook(
                    lambda _module, _args, output, change=change: change(output)
                )
            stack.callback(hook.remove)
        keep = model.model.register_forward_hook(
            lambda _module, _args, output: states.append(output.last_hidden_state[0].numpy())
        )
        stack.callback(keep.remove)
        made = whole(**model.reading.inputs(model.inputs([sequence])))
    return states[0], None if whole is model.model else made.logits[0].numpy()


def changed(model: LoadedModel, sequence: Any, changes: Changes) -> dict[str, Any]:
    """Means over tokens of 1 − cos(h, h′) and of ‖h′ − h‖ / ‖h‖; over places that have a target, or
    all without targets, of KL(p‖p′) and of the rise of −ln p(target)."""
    (before, known), (after, logits) = (answer(model, sequence, of) for of in ({}, changes))
    sizes = [np.linalg.norm(of, axis=1) for of in (before, after, after - before)]
    cosines = (before * after).sum(axis=1) / sizes[0] / sizes[1]
    found = {"cosine_distance": 1 - np.mean(cosines), "length": np.mean(sizes[2] / sizes[0])}
    found |= dict.fromkeys(("divergence", "loss"), np.nan)
    if logits is None:
        return found
    p, q = (softmax(np.atleast_2d(of).astype(float), axis=1) for of in (known, logits))
    targets: dict[int, int] = {}
    if model.objective == "next_token":
        targets = dict(enumerate(sequence.ids[1:].tolist()))
    elif model.language_model is not None:
        targets = {int(p): sequence.targets[p] for p in np.flatnonzero(sequence.masked)}
    places = [*targets] or [*range(len(p))]
    found["divergence"] = np.mean([(p[i] * np.log(p[i] / q[i])).sum() for i in places])
    rises = [np.log(p[place, target] / q[place, target]) for place, target in targets.items()]
    return found | ({"loss": np.mean(rises)} if rises else {})


def effects(model: LoadedModel, sequences: tuple[Sequence, ...]) -> pd.DataFrame:
    everything = frozenset(sequence.index for sequence in sequences)
    rows = rows_of_table(SEQUENCE_HEAD_EFFECT, model, sequences, run_again=everything).to_pandas()
    rows[["layer", "head"]] -= 1
    return rows.astype({"filling": str, "token_type": object})


def assert_same(rows: pd.DataFrame, expected: dict[str, Any], **place: Any) -> None:
    """Check the one row of what is replaced."""
    for name in ("seq", "filling", "layer", "head", "token_type"):
        value = place.get(name)
        rows = rows[rows[name].isna() if value is None else rows[name] == value]
    [row] = rows[[*CHANGES]].to_dict("records")
    for name in CHANGES:
        np.testing.assert_allclose(row[name], expected[name], **ROUNDING, err_msg=name)


def means_of(model: LoadedModel, name: str, sequences: tuple[Sequence, ...]):
    """Means by layer and type of what output projections are given, or value projections return."""
    rows: dict[tuple[int, int], list[np.ndarray]] = {}
    for sequence in sequences:

        def keep(tensor: Tensor, layer: int, types=sequence.token_types) -> Tensor:
            for token, row in zip(types.tolist(), tensor[0].numpy(), strict=True):
                rows.setdefault((layer, token), []).append(row)
            return tensor

        layers = range(len(model.layers))
        answer(model, sequence, {name.format(of): partial(keep, layer=of) for of in layers})
    return {key: sum(of) / len(of) for key, of in rows.items()}


@pytest.fixture(scope="module")
def model(family) -> LoadedModel:
    return tiny_model(family, predicts_tokens=family in PREDICTING)


@pytest.fixture(scope="module")
def texts(model) -> tuple[Sequence, ...]:
    """One or two texts or images, with masked tokens if there is a mask and they are predicted."""
    rate = mask_rate(model.name, 0.3) if model.language_model is not None else 0
    return tuple(
        masked(sequence, model.tokenizer, rate=rate, seed=1) if rate else sequence
        for sequence in tiny_sequences(model.name)[: 1 + (model.name in PREDICTING)]
    )


@pytest.mark.parametrize("family", OUTPUTS, indirect=True, scope="session")
def test_heads_together_and_alone_change_what_hooks_change(
    model, texts: tuple[Sequence, ...], monkeypatch
):
    monkeypatch.setattr(passes, "ASKED", 10**6)
    monkeypatch.setattr(passes, "OF_VARIANTS", 70)  # several runs per layer
    name, n_heads = OUTPUTS[model.name], len(model.layers[0].query_weight)
    rows, means = effects(model, texts), means_of(model, name, texts)
    for sequence, layer in product(texts, range(len(model.layers))):
        mean = np.stack([means[layer, kind] for kind in sequence.token_types.tolist()])
        for head, (filling, instead) in product(
            (*range(n_heads), None),
            ((MEAN, torch.from_numpy(mean)), (ZERO, torch.zeros(mean.shape))),
        ):

            def put(mixed: Tensor, head=head, instead=instead) -> Tensor:
                width = mixed.shape[-1] // n_heads
                here = slice(None) if head is None else slice(head * width, (head + 1) * width)
                mixed = mixed.clone()
                mixed[0, :, here] = instead[:, here].to(mixed)
                return mixed

            expected = changed(model, sequence, {name.format(layer): put})
            place = {"seq": sequence.index, "filling": filling, "layer": layer, "head": head}
            assert_same(rows, expected, **place)
    assert rows["length"].max() > 0.01, "this test could not have failed"
    has_classes = model.classifier is not None
    assert rows["divergence"].notna().all() == (has_classes or model.name in PREDICTING)
    assert rows["loss"].notna().all() == (model.name in PREDICTING)


@pytest.mark.parametrize("family", VALUES, indirect=True, scope="session")
def test_tokens_of_a_type_bring_what_hooks_on_their_values_leave(model, texts):
    rows, means = effects(model, texts), means_of(model, VALUES[model.name], texts)
    for sequence in texts:
        types = sequence.token_types
        for kind, filling in product(set(types.tolist()) - {OTHER}, FILLINGS):

            def put(values: Tensor, layer: int, kind=kind, filling=filling, types=types) -> Tensor:
                values, mean = values.clone(), torch.from_numpy(means[layer, kind])
                values[0, torch.from_numpy(types == kind)] = mean if filling == MEAN else 0
                return values

            layers = [*range(len(model.layers))]
            for layer in (*layers, None):
                chosen = layers if layer is None else [layer]
                hooks = {VALUES[model.name].format(of): partial(put, layer=of) for of in chosen}
                expected = changed(model, sequence, hooks)
                place = {"seq": sequence.index, "filling": filling, "layer": layer}
                assert_same(rows, expected, **place, token_type=TOKEN_TYPES[kind])


@every_order
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


def test_a_type_without_tokens_has_no_mean(traced_alone):
    means, layer = TypeMeans(), traced_alone[0].layers[0]
    means.add(layer, torch.zeros(layer.input.shape[1], dtype=torch.long))
    assert means.of(torch.tensor([1])).values.isnan().all()
    assert means.of(torch.tensor([0])).values.isfinite().all()


def rho(one: list[float], other: list[float]) -> float:
    return float(np.asarray(spearmanr(one, other))[0])


def test_heads_are_ranked_within_layers_layers_by_their_means_and_all_heads():
    """A measure and an effect agree within layers and disagree between them."""
    [measure, noise], of_layer = np.random.default_rng(0).normal(size=(2, 3, 12)), np.arange(3) * 10
    effect = measure + noise * 0.3 - of_layer[:, None]
    measure += of_layer[:, None]
    draws = Draws.of((3, 12), seed=0)
    of_measure, of_effect = OfHeads(measure, draws), OfHeads(effect, draws)
    found, by_chance = rank_correlations(of_measure, of_effect), chance(of_effect)
    layers = [rho([*one], [*other]) for one, other in zip(measure, effect, strict=True)]
    expected = [*layers, np.mean(layers), -1, rho([*measure.ravel()], [*effect.ravel()])]
    np.testing.assert_allclose(found.spearman, expected)
    redrawn = [
        [rho([*one[h]], [*other[h]]) for one, other, h in zip(measure, effect, heads, strict=True)]
        for heads in draws.heads
    ]
    ends = np.quantile(redrawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose([found.low[:3], found.high[:3]], ends)
    assert np.isnan(found.low).tolist() == [False] * 4 + [True, False], "of three layers"
    np.testing.assert_allclose(by_chance.spearman[:5], 0, atol=0.1)
    assert (by_chance.low[:4] < 0).all()
    assert (by_chance.high[:4] > 0).all()
    assert by_chance.spearman[5] > 0.8, "effects of these layers are far apart"


def test_a_table_has_every_measure_of_the_file_and_chance():
    places = [(layer, head) for layer in (1, 2) for head in range(1, 13)]
    heads, draw = pd.DataFrame(places, columns=["layer", "head"]), np.random.default_rng(1)
    effect = draw.permutation(24).astype(float)
    types = [
        heads.assign(token_type="cls", attention=draw.random(24), weighted_norm=0.0),
        heads.assign(token_type="other", attention=effect, weighted_norm=-effect),
    ]
    parts = {"norm": effect**2, "share": -effect, "length": draw.random(24)}
    tables = {
        "head_effect": heads.assign(filling="mean", quantity="length", mean=effect),
        "token_type_mixing": pd.concat(types),
        "contribution": pd.concat(heads.assign(quantity=name, mean=parts[name]) for name in parts),
        "gradient_importance": heads.assign(importance=1.0)[:0],
    }
    with store_of(**tables) as store:
        rows = made(EFFECT_PREDICTION, store).astype({"measure": str, "level": str})
    everywhere = rows[rows["level"] == "all"].set_index("measure")
    assert set(everywhere.index) == {*MEASURES, RANDOM} - {"gradient"}
    assert everywhere["spearman"][["weight", "norm"]].tolist() == pytest.approx([1, 1])
    assert everywhere["spearman"][["weighted_norm", "share"]].tolist() == pytest.approx([-1, -1])
    assert (everywhere["n"] == 24).all()
    assert rows[rows["level"] == "layer"]["layer"].tolist() == [1, 2] * 6


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
