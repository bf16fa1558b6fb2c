"""Laws of every type of model that is read, and refusals of all others: see `docs/models.md`.

Of each type there is one tiny random model: see `tests.analysis.models.every_type`.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from analysis.errors import UnfitModel, UserError
from analysis.models.attention_functions import AttentionFunctions
from analysis.models.capture import change_output
from analysis.models.places import Change
from analysis.models.proof import PARTS, prove
from analysis.models.reading import Reading, in_float64, random_inputs, read_model
from analysis.models.stream import stream_layers
from analysis.models.trace import LayerTrace, Model, in_dtype
from precompute.models.loaded_model import LoadedModel
from tests.analysis.models.every_type import every_type, tiny_type
from tests.ledger import (
    IS_READ,
    IS_REFUSED,
    outcomes,
    proved_reading,
    written_version,
)
from tests.refusals import refused
from tests.shared_store import without_shape_checks

WRITTEN = outcomes()
READ = [name for name, (outcome, _) in WRITTEN.items() if outcome == IS_READ]
REFUSED = [name for name, (outcome, _) in WRITTEN.items() if outcome == IS_REFUSED]
ROUND_OFF = 1e-6
"""Largest relative error: the library takes some norms, angles and softmaxes in float32."""
N_TOKENS = 7


@dataclass(frozen=True)
class Typed:
    """A type's tiny model in float64, and how it is read."""

    name: str
    reading: Reading

    @cached_property
    def given(self) -> dict[str, Tensor]:
        """Three texts, padded to the length of the first; or three images."""
        given = {name: tensor[:3] for name, tensor in random_inputs(self.reading.model).items()}
        if "attention_mask" in given:
            lengths = torch.tensor([given["attention_mask"].shape[1], N_TOKENS, 1])
            places = torch.arange(given["attention_mask"].shape[1])
            given["attention_mask"] = (places < lengths[:, None]).long()
        return given

    def layers(self, given: dict[str, Tensor], change: Change | None = None) -> list[LayerTrace]:
        """Run the model once and keep its layers, with its places changed if asked."""
        layers: list[LayerTrace] = []
        reading = self.reading
        with reading.places.changed(change) if change else nullcontext():
            stream_layers(
                reading.model,
                reading.parts,
                reading.layers,
                reading.inputs(given),
                lambda _index, layer: layers.append(layer),
            )
        return layers

    @cached_property
    def alone(self) -> dict[str, Tensor]:
        """The second text without its padding; or the second image."""
        n_tokens = N_TOKENS if "attention_mask" in self.given else None
        return {name: tensor[1:2, :n_tokens] for name, tensor in self.given.items()}

    @cached_property
    def unpadded(self) -> list[LayerTrace]:
        return self.layers(self.alone)

    @cached_property
    def padded(self) -> list[LayerTrace]:
        return self.layers(self.given)

    @cached_property
    def monotone(self) -> dict[str, Tensor]:
        """A text of one word again and again, or a blank image."""
        if self.reading.layout is not None:
            return {"pixel_values": torch.full_like(self.alone["pixel_values"], 0.5)}
        ids = self.alone["input_ids"]
        return self.alone | {"input_ids": ids[:, :1].expand_as(ids).contiguous()}

    @cached_property
    def placed(self) -> list[LayerTrace]:
        return self.layers(self.monotone)


@pytest.fixture(scope="module", autouse=True)
def _shapes_are_not_checked() -> Iterator[None]:
    """Shapes are checked on the families of `tests.tiny`; here that would take half of the time."""
    with without_shape_checks():
        yield


@pytest.fixture(scope="module", params=READ)
def typed(request: pytest.FixtureRequest) -> Iterator[Typed]:
    model = tiny_type(request.param)
    before = _state(model)
    reading = read_model(model)
    _loaded(request.param, reading).proved()
    changed = [name for name, value in _state(model).items() if not _same(before.get(name), value)]
    assert not changed, "the trial leaves the model as it was"
    with in_float64(model):
        yield Typed(request.param, _in_float64(reading))


def _loaded(name: str, reading: Reading) -> LoadedModel:
    images: Any = None if reading.layout is None else object()
    return LoadedModel(
        name, "tiny", "0" * 64, (), reading.model, None, reading, reading.layers, "float32",
        images=images,
    )  # fmt: skip


def _state(model: Model) -> dict[str, Any]:
    """Everything that a model and its configuration hold: tensors, attributes, hooks, modules."""
    state: dict[str, Any] = {
        f"config.{name}": repr(value) for name, value in vars(model.config).items()
    }
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            held = value if isinstance(value, dict) else {"": value}
            state |= {f"{path}.{name}.{key}": _held(part) for key, part in held.items()}
            state[f"{path}.{name} in all"] = sorted(map(str, held))
    return state


def _held(value: Any) -> Any:
    if isinstance(value, Tensor):
        return id(value), value.clone()
    is_plain = value is None or isinstance(value, str | int | float | tuple | list | set)
    return repr(value) if is_plain else id(value)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return one[0] == other[0] and one[1].dtype == other[1].dtype and one[1].equal(other[1])
    return one == other


def _in_float64(reading: Reading) -> Reading:
    layers = tuple(in_dtype(layer, torch.float64) for layer in reading.layers)
    return replace(reading, layers=layers)


def far(made: Tensor, wanted: Tensor) -> float:
    return float((made - wanted).abs().max() / wanted.abs().max())


def test_the_parts_of_every_layer_add_up(typed):
    reading = typed.reading
    proof = prove(reading.model, reading.parts, reading.layers, reading.inputs(typed.given))
    assert max(proof.worst(part) for part in PARTS) < ROUND_OFF
    has_latents = any(layer.value_latent is not None for layer in reading.layers)
    in_float32 = has_latents or typed.name in SCALE_VALUES
    assert proof.worst("values") < (ROUND_OFF if in_float32 else 1e-12)


def test_attention_is_the_library_s_in_every_layer(typed):
    inputs = typed.reading.inputs(typed.alone)
    with torch.inference_mode(), AttentionFunctions(1, lambda _: None):  # for XGLM in float64
        theirs = typed.reading.model(**inputs, output_attentions=True, return_dict=True).attentions
    of_layers = (weights for weights in theirs if weights is not None)
    for layer, weights in zip(typed.unpadded, of_layers, strict=True):
        ours = layer.attention
        if typed.name in ("granite_swa", "granitemoe_swa"):  # a sink's share is taken later there
            ours = ours / ours.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(ours, weights, rtol=0, atol=2e-5, check_dtype=False)


def test_a_row_sums_to_one_or_less_the_share_of_a_sink_over_the_keys_that_are_seen(typed):
    for layer in typed.padded:
        n_tokens = layer.attention.shape[-1]
        text, expected = layer.attention[0], torch.ones_like(layer.attention[0, ..., 0])
        if (sink := layer.weights.sink_logit) is not None:
            scores = layer.weights.scores(layer.attention_input)[0].exp()
            tokens = (scores * layer.weights.pairs(n_tokens)).sum(dim=-1)
            expected = tokens / (tokens + sink.exp()[:, None])
        torch.testing.assert_close(text.sum(-1), expected, rtol=0, atol=1e-6)
        assert torch.equal((text > 0).any(0), layer.weights.pairs(n_tokens))


def test_padding_and_batches_change_no_number(typed):
    for layer, padded in zip(typed.unpadded, typed.padded, strict=True):
        same = padded.of_sequence(1, layer.input.shape[1])
        assert far(same.attention, layer.attention) < 1e-5
        assert far(same.output, layer.output) < 1e-5


def test_one_token_attends_to_itself(typed):
    if typed.reading.layout is not None:
        return
    for layer in typed.padded:
        alone = layer.of_sequence(2, 1)
        assert layer.weights.sink_logit is not None or (alone.attention == 1).all()
        assert ((alone.attention > 0) & (alone.attention <= 1)).all()
        assert alone.output.isfinite().all()


def test_tokens_of_an_image_are_patches_special_tokens_and_their_places(typed):
    reading = typed.reading
    if reading.layout is None or reading.places.embedding is None or not reading.places.can_change:
        return
    made, places = reading.word_embeddings(typed.alone), reading.places.embedding
    n_without = reading.layout.n_tokens - len(places)
    seen = []
    with change_output(reading.model.embeddings, lambda made: seen.append(made) or made):
        typed.layers(typed.alone)
    n_special = len(reading.layout.special) - n_without
    tokens = [*range(n_special), *range(n_special + n_without, reading.layout.n_tokens)]
    torch.testing.assert_close(made[:, tokens] + places, seen[0][:, tokens], rtol=1e-6, atol=1e-6)


SCALE_VALUES = ("mimo_v2_flash",)
"""Types that multiply values by a number, which weights in float32 hold rounded."""


def changed(typed: Typed, change: Change) -> list[LayerTrace] | None:
    """Layers with places changed; None if the model has none that can be changed."""
    try:
        return typed.layers(typed.monotone, change)
    except UnfitModel:
        return None


def test_without_places_tokens_that_are_alike_are_attended_to_alike(typed):
    removed = changed(typed, torch.zeros_like)
    if removed is None:
        return
    layout = typed.reading.layout
    tokens = slice(0 if layout is None else len(layout.special), None)
    reads_in_order = bool(typed.reading.without_attention)  # which do so in layers of other kinds
    for layer in () if reads_in_order else removed:
        attention = layer.attention[0, :, tokens, tokens]
        seen = attention > 0
        alike = (attention.sum(-1) / seen.sum(-1)).unsqueeze(-1) * seen
        torch.testing.assert_close(attention, alike, rtol=1e-5, atol=1e-7)
        if layer.weights.sink_logit is not None and layer.weights.is_causal:
            break  # a sink's share tells how many tokens a query sees, so its place
    assert far(removed[0].attention, typed.placed[0].attention) > 1e-4


def test_places_in_another_order_are_other_places(typed):
    order = torch.arange(typed.placed[0].input.shape[1])
    order[-3:] = order[-3:].roll(1)
    layers = changed(typed, lambda places: places[..., order, :])
    if layers is None:
        return
    first, placed = layers[0], typed.placed[0].attention[0]
    assert far(first.attention[0], placed) > 1e-4
    if not first.weights.is_causal and first.weights.window is None:
        # all tokens are alike, so that they are told apart by their places alone
        moved = placed[:, order][:, :, order]
        torch.testing.assert_close(first.attention[0], moved, rtol=1e-5, atol=1e-7)


SAID = {
    "mamba": "MambaModel computes no attention that is softmax",
    "bitnet": "What attention mixes goes into a matrix neither as it is nor scaled by a gate",
    "longcat_flash": "LongcatFlashMLA: queries or keys are not made by a matrix of what",
    "doge": "DogeDecoderLayer returns something else than the sum of its input, its attention",
    "xlm": "MultiHeadAttention returns something else than the sum of its input, its attention",
    "mlcd": "The model's rope_type is 'axial'; covered are default, linear,",
    "vit_mae": "An image has 5 tokens, and 17 were expected:",
    "videomae": "VideoMAEModel cannot be read: models are first run on random images alone, in "
    "float64, and it stops in VideoMAEPatchEmbeddings: ",
    "fsmt": "FSMTEncoder cannot be read: its layers are built in no way that can be followed, so "
    "that nothing would prove its numbers.",
    "clip": "Model 'clip' (clip) is read one part at a time: text or vision. Give --part text or "
    "--part vision.",
    "squeezebert": "SqueezeBertModel: no item of a list of modules holds its attention.",
}
"""Beginnings of refusals of types that are not read, one for each kind of cause."""


@pytest.mark.parametrize("model_type", REFUSED)
def test_a_type_that_is_not_read_is_refused_by_one_sentence(model_type):
    said = refused(UserError, proved_reading, model_type)
    assert "\n" not in said
    assert said.startswith(SAID.get(model_type, ""))


def test_more_than_a_hundred_types_are_read():
    assert len(READ) >= 100
    if transformers.__version__ == written_version():
        assert set(WRITTEN) == set(every_type())
