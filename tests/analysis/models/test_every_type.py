"""Laws of every type of model that is read, and refusals of all others: see `docs/models.md`.

Of each type there is one tiny random model: see `tests.analysis.models.every_type`.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from torch import Tensor

from analysis.errors import UnfitModel, UserError
from analysis.models.places import Change
from analysis.models.proof import PARTS, Proof
from analysis.models.reading import Reading, in_float64, random_inputs, read_model
from analysis.models.stream import stream_layers
from analysis.models.trace import LayerTrace, Model, in_dtype
from precompute.models.loaded_model import LoadedModel
from tests.analysis.models.every_type import every_type, tiny_type
from tests.ledger import IS_READ, IS_REFUSED, outcomes, proved_reading, written_version
from tests.refusals import refused
from tests.shared_store import without_shape_checks

pytestmark = pytest.mark.slow
WRITTEN = outcomes()
READ = [name for name, (outcome, _) in WRITTEN.items() if outcome == IS_READ]
ROUND_OFF = 1e-6
"""Largest relative error: the library takes some norms, angles and softmaxes in float32."""
N_TOKENS = 7


class Typed(NamedTuple):
    """A type's tiny model in float64, how it is read, and by how much the proof misses it."""

    name: str
    reading: Reading
    proof: Proof

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

    def inputs(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Three texts, padded to the length of the first, or three images; and the second alone."""
        given = {name: tensor[:3] for name, tensor in random_inputs(self.reading.model).items()}
        if "attention_mask" not in given:
            return given, {name: tensor[1:2] for name, tensor in given.items()}
        lengths = torch.tensor([given["attention_mask"].shape[1], N_TOKENS, 1])
        places = torch.arange(given["attention_mask"].shape[1])
        given["attention_mask"] = (places < lengths[:, None]).long()
        return given, {name: tensor[1:2, :N_TOKENS] for name, tensor in given.items()}


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
    images: Any = None if reading.layout is None else object()
    proof = LoadedModel(
        request.param, "tiny", "0" * 64, (), model, None, reading, reading.layers, "float32",
        images=images,
    ).proved()  # fmt: skip
    assert _state(model) == before, "the trial leaves the model as it was"
    with in_float64(model):
        layers = tuple(in_dtype(layer, torch.float64) for layer in reading.layers)
        yield Typed(request.param, replace(reading, layers=layers), proof)


def _state(model: Model) -> tuple[Any, ...]:
    """Everything that a model and its configuration hold: settings, modules, hooks and tensors."""
    held = [
        {
            name: len(value) if isinstance(value, dict) else str(value)
            for name, value in vars(module).items()
            if isinstance(value, dict | str | int | float | None)
        }
        for module in model.modules()
    ]
    tensors = (*model.named_parameters(), *model.named_buffers())
    numbers = {name: (tensor.dtype, tensor.double().numpy().tobytes()) for name, tensor in tensors}
    return repr(vars(model.config)), [*model.modules()], held, numbers


def far(made: Tensor, wanted: Tensor) -> float:
    return float((made - wanted).abs().max() / wanted.abs().max())


def test_the_parts_of_every_layer_add_up(typed):
    """Attention is the library's, and without places tokens that are alike are attended to alike:
    see `LoadedModel.proved`."""
    assert max(typed.proof.worst(part) for part in PARTS) < ROUND_OFF
    has_latents = any(layer.value_latent is not None for layer in typed.reading.layers)
    in_float32 = has_latents or typed.name in SCALE_VALUES
    assert typed.proof.worst("values") < (ROUND_OFF if in_float32 else 1e-12)


def test_padding_and_batches_change_no_number_and_rows_sum_to_1_or_less_a_sink_s_share(typed):
    given, alone = typed.inputs()
    for layer, padded in zip(typed.layers(alone), typed.layers(given), strict=True):
        same, of_weights = padded.of_sequence(1, layer.input.shape[1]), layer.weights
        assert far(same.attention, layer.attention) < 1e-5
        assert far(same.output, layer.output) < 1e-5
        text, expected = padded.attention[0], torch.ones_like(padded.attention[0, ..., 0])
        seen = of_weights.pairs(text.shape[-1])
        if (sink := of_weights.sink_logit) is not None:
            scores = of_weights.scores(padded.attention_input)[0].exp()
            tokens = (scores * seen).sum(dim=-1)
            expected = tokens / (tokens + sink.exp()[:, None])
        torch.testing.assert_close(text.sum(-1), expected, rtol=0, atol=1e-6)
        assert torch.equal((text > 0).any(0), seen)
        if typed.reading.layout is None:
            single = padded.of_sequence(2, 1)
            assert sink is not None or (single.attention == 1).all()
            assert single.output.isfinite().all()


SCALE_VALUES = ("mimo_v2_flash",)
"""Types that multiply values by a number, which weights in float32 hold rounded."""


def test_places_in_another_order_are_other_places(typed):
    """In a text of one word again and again, or a blank image."""
    _, alone = typed.inputs()
    for name, value in alone.items():
        if name == "pixel_values":
            alone[name] = torch.full_like(value, 0.5)
        elif name == "input_ids":
            alone[name] = value[:, :1].expand_as(value).contiguous()
    placed = typed.layers(alone)[0].attention[0]
    order = torch.arange(placed.shape[-1])
    order[-3:] = order[-3:].roll(1)
    try:
        moved = typed.layers(alone, lambda places: places[..., order, :])[0]
    except UnfitModel:  # which has no places that can be changed
        return
    assert far(moved.attention[0], placed) > 1e-4
    if not moved.weights.is_causal and moved.weights.window is None:
        expected = placed[:, order][:, :, order]
        torch.testing.assert_close(moved.attention[0], expected, rtol=1e-5, atol=1e-7)


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


@pytest.mark.parametrize("model_type", SAID)
def test_a_type_that_is_not_read_is_refused_by_one_sentence(model_type):
    said = refused(UserError, proved_reading, model_type)
    assert "\n" not in said
    assert said.startswith(SAID[model_type])


def test_more_than_a_hundred_types_are_read():
    assert len(READ) >= 100
    assert {WRITTEN[name][0] for name in SAID} == {IS_REFUSED}
    if transformers.__version__ == written_version():
        assert set(WRITTEN) == set(every_type())
