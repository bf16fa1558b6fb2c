"""A part of a checkpoint that holds several models is read as it runs in the whole."""

import json

import pytest
import torch
from safetensors.torch import load_file

from analysis.models.reading import random_inputs
from analysis.models.stream import stream_layers
from precompute.models.load_models import load_model, load_tokenizer
from tests.precompute.models.changed_files import change_settings
from tests.precompute.models.composites import composite, list_modules
from tests.tiny import save_tiny

MODULES = {"text": ("text_model", "language_model"), "vision": ("vision_model", "vision_tower")}
READ = [
    *(("clip", "text"), ("clip", "vision"), ("siglip", "text"), ("siglip", "vision")),
    *(("blip", "text"), ("blip", "vision"), ("llava", "text"), ("llava", "vision")),
    *(("gemma3", "text"), ("gemma3", "vision"), ("qwen2_vl", "text"), ("bart", "encoder")),
]
CAUSAL = {("clip", "text"), ("llava", "text"), ("gemma3", "text"), ("qwen2_vl", "text")}


@pytest.mark.parametrize(("family", "part"), READ)
def test_every_layer_of_a_part_is_that_of_the_whole(saved, family, part):
    loaded = load_model(str(saved(family)), device="cpu", part=part)
    assert loaded.part == part
    assert (loaded.tokenizer is None) == (loaded.images is not None) == (part == "vision")
    assert loaded.layers[0].is_causal == ((family, part) in CAUSAL)
    given = loaded.reading.inputs(random_inputs(loaded.model))
    given = {
        name: value.float() if name == "pixel_values" else value for name, value in given.items()
    }
    outputs: list[torch.Tensor] = []
    stream_layers(
        *(loaded.model, loaded.parts, loaded.layers, given),
        lambda _, layer: outputs.append(layer.output),
    )
    states = _in_the_whole(composite(family), part)(
        **given, output_hidden_states=True, return_dict=True
    ).hidden_states
    for found, expected in zip(outputs[:-1], states[1:-1], strict=True):
        torch.testing.assert_close(found, expected)


def _in_the_whole(whole, part: str):
    if part == "encoder":
        return whole.get_encoder()
    return next(getattr(whole, name) for name in MODULES[part] if hasattr(whole, name))


def test_how_the_library_would_run_a_part_changes_nothing(copied):
    folder = copied("clip")
    before = load_model(str(folder), device="cpu", part="text").model.config
    known = json.loads((folder / "config.json").read_text())["text_config"]
    other = known | {"return_dict": False, "_attn_implementation": "sdpa"}
    change_settings(folder / "config.json", text_config=other)
    after = load_model(str(folder), device="cpu", part="text").model.config
    assert after._attn_implementation == "eager"
    assert after.to_dict() == before.to_dict()


@pytest.mark.parametrize(("family", "part"), [("clip", "vision"), ("bart", None)])
def test_a_part_is_drawn_untrained(saved, family, part):
    trained, drawn, other = (
        load_model(str(saved(family)), device="cpu", part=part, random_weights=seed)
        for seed in (None, 0, 1)
    )
    assert type(drawn.model) is type(trained.model)
    assert drawn.part == trained.part == (part or "encoder")
    assert len({trained.weights_sha256, drawn.weights_sha256, other.weights_sha256}) == 3


@pytest.mark.parametrize("path", ["", "0_Transformer"])
def test_the_transformer_of_a_sentence_model_is_read(path, tmp_path):
    save_tiny("bert", tmp_path / path)
    list_modules(tmp_path, path, "Pooling", "Normalize")
    loaded = load_model(str(tmp_path), device="cpu")
    assert loaded.not_read == ("Pooling", "Normalize")
    held = load_file(tmp_path / path / "model.safetensors")
    assert all(held[name].equal(tensor) for name, tensor in loaded.model.state_dict().items())
    assert load_tokenizer(str(tmp_path)).get_vocab() == loaded.tokenizer.get_vocab()
