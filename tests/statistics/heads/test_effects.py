"""Texts run again without a head, against hooks; what predicts these effects; shares of updates."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import count, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor

from analysis.effects import CHANGES, FILLINGS, MEAN, MEASURES, PARTS, RANDOM, REST, ZERO
from analysis.measures.bootstrap import LEAST_UNITS
from analysis.measures.heads.contribution import contributions
from analysis.measures.heads.effect_prediction import Draws, OfHeads, chance, rank_correlations
from analysis.measures.heads.head_effect import TypeMeans
from analysis.models.reading import read_model
from analysis.models.trace import LayerTrace
from analysis.statistics.heads.single_heads import (
    EFFECT_PREDICTION,
    SEQUENCE_CONTRIBUTION,
    SEQUENCE_HEAD_EFFECT,
)
from analysis.token_types import OTHER, TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.corpora.token_types import masked
from precompute.models.loaded_model import LoadedModel
from precompute.passes import head_effects as passes
from tests.analysis.models.every_type import tiny_type
from tests.statistics.fits import made, store_of
from tests.statistics.mixing.slow_layers import network_part, normalised
from tests.tiny import every_model, mask_rate, tiny_model, tiny_sequences
from tests.tiny_decoders import make_exact
from tests.tracing import rows_of_table, trace_of

ROUNDING: dict[str, Any] = {
    "rtol": 2e-5,
    "atol": 2e-6,
}  # the library's softmax is in float32 in most models
Hooks = Mapping[str, Callable[[Tensor], Tensor]]
NONE: Hooks = {}


def answer(
    model: LoadedModel, sequence: Sequence, *, given: Hooks = NONE, returned: Hooks = NONE
) -> tuple[np.ndarray, Any]:
    """Last hidden states and logits of a text, with what modules are given or return changed."""
    whole, states = model.language_model or model.classifier or model.model, []
    with ExitStack() as stack, torch.no_grad():
        for name, change in given.items():
            hook = model.model.get_submodule(name).register_forward_pre_hook(
                lambda _module, args, change=change: (change(args[0]),)
            )
            stack.callback(hook.remove)
        for name, change in returned.items():
            hook = model.model.get_submodule(name).register_forward_hook(
                lambda _module, _args, output, change=change: change(output)
            )
            stack.callback(hook.remove)
        keep = model.model.register_forward_hook(
            lambda _module, _args, output: states.append(output.last_hidden_state[0].numpy())
        )
        stack.callback(keep.remove)
        made = whole(**model.reading.inputs(model.inputs([sequence])))
    return states[0], None if whole is model.model else made.logits[0].numpy()


def changes(before: np.ndarray, after: np.ndarray) -> dict[str, Any]:
    """Mean over tokens of 1 − cos(h, h′) and of ‖h′ − h‖ / ‖h‖."""
    cosines = [h @ g / np.sqrt(h @ h) / np.sqrt(g @ g) for h, g in zip(before, after, strict=True)]
    lengths = [
        np.sqrt((g - h) @ (g - h)) / np.sqrt(h @ h) for h, g in zip(before, after, strict=True)
    ]
    return {"cosine_distance": 1 - np.mean(cosines), "length": np.mean(lengths)}


def predicted(before: Any, after: Any, targets: dict[Any, int]) -> dict[str, Any]:
    """KL(p‖p′) and the rise of −ln p(target), mean over places; all places without targets."""
    known, found = (np.atleast_2d(logits).astype(float) for logits in (before, after))
    p, q = (np.exp(x - x.max(axis=1, keepdims=True)) for x in (known, found))
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    places = [*targets] or [*range(len(p))]
    rises = [np.log(p[place, target] / q[place, target]) for place, target in targets.items()]
    return {
        "divergence": np.mean([(p[i] * np.log(p[i] / q[i])).sum() for i in places]),
        "loss": np.mean(rises) if rises else np.nan,
    }


def targets_of(model: LoadedModel, sequence: Any) -> dict[Any, int]:
    if model.language_model is None:
        return {}
    if model.objective == "next_token":
        return dict(enumerate(sequence.ids[1:].tolist()))
    return {place: int(sequence.targets[place]) for place in np.flatnonzero(sequence.masked)}


def expected_changes(model, sequence, before, **hooks) -> dict[str, float]:
    states, logits = answer(model, sequence, **hooks)
    found = changes(before[0], states)
    if logits is None:
        return found | {"divergence": np.nan, "loss": np.nan}
    return found | predicted(before[1], logits, targets_of(model, sequence))


def put(model: LoadedModel, heads: list[int], instead: np.ndarray | float):
    """A function that writes something in place of heads, as the output projection is given."""

    def change(mixed: Tensor) -> Tensor:
        mixed, width = mixed.clone(), mixed.shape[-1] // len(model.layers[0].query_weight)
        for head in heads:
            here = slice(head * width, (head + 1) * width)
            mixed[0, :, here] = torch.as_tensor(instead)[..., here] if np.ndim(instead) else 0
        return mixed

    return change


def effects(model: LoadedModel, sequences: tuple[Sequence, ...]) -> pd.DataFrame:
    everything = frozenset(sequence.index for sequence in sequences)
    rows = rows_of_table(SEQUENCE_HEAD_EFFECT, model, sequences, run_again=everything).to_pandas()
    rows[["layer", "head"]] -= 1
    return rows.astype({"filling": str, "token_type": object})


def named(rows: pd.DataFrame, *, seq, filling, layer=None, head=None, token_type=None) -> pd.Series:
    """The one row of what is replaced."""
    for name, value in (("layer", layer), ("head", head), ("token_type", token_type)):
        rows = rows[rows[name].isna() if value is None else rows[name] == value]
    [row] = rows[(rows["seq"] == seq) & (rows["filling"] == filling)].to_dict("records")
    return row


def assert_same(found, expected: Mapping[str, float]) -> None:
    for name in CHANGES:
        np.testing.assert_allclose(found[name], expected[name], **ROUNDING, err_msg=name)


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


def test_a_type_without_tokens_has_no_mean(tiny, sequences):
    means = TypeMeans()
    [layer, *_] = trace_of(tiny, sequences[:1]).layers
    means.add(layer, torch.zeros(len(sequences[0]), dtype=torch.long))
    assert means.of(torch.tensor([1])).values.isnan().all()
    assert means.of(torch.tensor([0])).values.isfinite().all()


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


SHARED = "encoder.albert_layer_groups.0.albert_layers.0.attention.dense"


def test_of_a_layer_that_is_called_again_and_again_one_call_is_changed():
    """As in ALBERT, whose layers are one module."""
    bert = tiny_model("bert")
    model = tiny_type("albert", vocab_size=len(bert.tokenizer)).double()
    make_exact(model)
    reading = read_model(model)
    shared = replace(bert, model=model, reading=reading, layers=reading.layers)
    [sequence] = tiny_sequences("bert")[:1]
    rows, before = effects(shared, (sequence,)), answer(shared, sequence)
    for layer, head in product(range(3), range(4)):

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


SHAPE = 3, 12


def rho(one: list[float], other: list[float]) -> float:
    return float(np.asarray(spearmanr(one, other))[0])


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """A measure and an effect that agree within layers and disagree between them."""
    draw = np.random.default_rng(0)
    measure = draw.normal(size=SHAPE).round(1)
    effect = measure + draw.normal(size=SHAPE) * 0.3
    of_layer = np.array([[0], [10], [20]])
    return measure + of_layer, effect - of_layer


def of_heads(*values: np.ndarray) -> list[OfHeads]:
    draws = Draws.of(values[0].shape, seed=0)
    return [OfHeads(of, draws) for of in values]


def test_heads_are_ranked_within_layers_layers_by_their_means_and_all_heads(numbers):
    found = rank_correlations(*of_heads(*numbers))
    measure, effect = numbers
    layers = [rho([*one], [*other]) for one, other in zip(measure, effect, strict=True)]
    between = rho([*measure.mean(axis=1)], [*effect.mean(axis=1)])
    expected = [*layers, np.mean(layers), between, rho([*measure.ravel()], [*effect.ravel()])]
    np.testing.assert_allclose(found.spearman, expected)
    assert between == -1
    assert min(layers) > 0.7


def test_intervals_are_of_redrawn_heads_and_absent_for_few_layers(numbers):
    measure, effect = of_heads(*numbers)
    found, draws = rank_correlations(measure, effect), measure.draws
    redrawn = [
        [rho([*one[h]], [*other[h]]) for one, other, h in zip(*numbers, heads, strict=True)]
        for heads in draws.heads
    ]
    low, high = np.quantile(redrawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found.low[:3], low)
    np.testing.assert_allclose(found.high[:3], high)
    is_few = np.isnan(found.low)
    assert SHAPE[0] < LEAST_UNITS <= SHAPE[1]
    assert is_few.tolist() == [False] * 4 + [True, False]


def test_a_random_head_of_the_layer_knows_the_layer_and_nothing_else(numbers):
    [_, effect] = of_heads(*numbers)
    found = chance(effect)
    np.testing.assert_allclose(found.spearman[:5], 0, atol=0.1)
    assert (found.low[:4] < 0).all()
    assert (found.high[:4] > 0).all()
    assert found.spearman[5] > 0.8, "effects of these layers are far apart"


def test_a_table_has_every_measure_of_the_file_and_chance():
    heads = pd.DataFrame([(layer, head) for layer in (1, 2) for head in range(1, 13)])
    heads.columns = ["layer", "head"]
    draw = np.random.default_rng(1)
    effect = draw.permutation(len(heads)).astype(float)

    def long(**columns) -> pd.DataFrame:
        return heads.assign(**columns)

    types = [
        long(token_type="cls", attention=draw.random(24), weighted_norm=0.0),
        long(token_type="other", attention=effect, weighted_norm=-effect),
    ]
    parts = [
        long(quantity=name, mean=of)
        for name, of in (("norm", effect**2), ("share", -effect), ("length", draw.random(24)))
    ]
    tables = {
        "head_effect": long(filling="mean", quantity="length", mean=effect),
        "token_type_mixing": pd.concat(types),
        "contribution": pd.concat(parts),
        "gradient_importance": long(importance=1.0)[:0],
    }
    with store_of(**tables) as store:
        rows = made(EFFECT_PREDICTION, store).astype({"measure": str, "level": str})
    everywhere = rows[rows["level"] == "all"].set_index("measure")
    assert set(everywhere.index) == {*MEASURES, RANDOM} - {"gradient"}
    assert everywhere["spearman"][["weight", "norm"]].tolist() == pytest.approx([1, 1])
    assert everywhere["spearman"][["weighted_norm", "share"]].tolist() == pytest.approx([-1, -1])
    assert (everywhere["n"] == 24).all()
    assert rows[rows["level"] == "layer"]["layer"].tolist() == [1, 2] * 6


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
