"""A part of a checkpoint that holds several models is read as it runs in the whole."""

import json
from pathlib import Path
from shutil import copytree

import pytest
import torch
from safetensors.torch import load_file

from analysis.errors import UnfitModel, UserError
from analysis.models.reading import random_inputs
from analysis.models.stream import stream_layers
from precompute.models.load_models import load_model, load_tokenizer
from tests.precompute.models.changed_files import drop_tensors
from tests.precompute.parts.composites import composite, list_modules, save_composite
from tests.refusals import refused
from tests.tiny import save_tiny

MODULES = {"text": ("text_model", "language_model"), "vision": ("vision_model", "vision_tower")}
READ = [
    *(("clip", "text"), ("clip", "vision"), ("siglip", "text"), ("siglip", "vision")),
    *(("blip", "text"), ("blip", "vision"), ("llava", "text"), ("llava", "vision")),
    *(("gemma3", "text"), ("gemma3", "vision"), ("qwen2_vl", "text"), ("bart", "encoder")),
]
CAUSAL = {("clip", "text"), ("llava", "text"), ("gemma3", "text"), ("qwen2_vl", "text")}


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("composites")
    return {family: save_composite(family, place / family) for family in dict(READ)}


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    """A CLIP whose files may be changed."""
    return Path(copytree(saved["clip"], tmp_path / "clip"))


@pytest.mark.parametrize(("family", "part"), READ)
def test_every_layer_of_a_part_is_that_of_the_whole(saved, family, part):
    loaded = load_model(str(saved[family]), device="cpu", part=part)
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


@pytest.mark.parametrize("family", ["clip", "siglip", "gemma3"])
def test_parts_are_named_where_none_is_asked_for(saved, family):
    name = str(saved[family])
    assert refused(UserError, load_model, name, device="cpu") == (
        f"Model {name!r} ({family}) is read one part at a time: text or vision. "
        "Give --part text or --part vision."
    )


@pytest.mark.parametrize(
    ("family", "part", "has"),
    [("clip", "encoder", ("text", "vision")), ("bart", "vision", ("encoder",))],
)
def test_a_part_that_a_model_lacks_is_refused(saved, family, part, has):
    message = refused(UserError, load_model, str(saved[family]), device="cpu", part=part)
    assert f"{' or '.join(has)}, and has no {part} part." in message
    assert message.endswith(f"Give {' or '.join(f'--part {known}' for known in has)}.")


@pytest.mark.parametrize("family", ["bert", "vit"])
def test_a_model_without_parts_refuses_the_option(family, tmp_path):
    name = str(save_tiny(family, tmp_path / family))
    assert refused(UserError, load_model, name, device="cpu", part="text") == (
        f"Model {name!r} ({family}) has no parts to choose from. Leave --part text out."
    )


def test_a_part_that_reads_no_images_of_one_size_is_refused(saved):
    message = refused(UnfitModel, load_model, str(saved["qwen2_vl"]), device="cpu", part="vision")
    assert "(Qwen2VisionTransformerPretrainedModel) is not one stack of layers" in message


@pytest.mark.parametrize("part", ["text", "vision"])
def test_a_tensor_that_any_part_lacks_is_missed(folder, part):
    missing = drop_tensors(folder, "vision_model.encoder.layers.0.layer_norm1.weight")
    message = refused(UnfitModel, load_model, str(folder), device="cpu", part=part)
    assert f"lack 1 tensor(s), such as {missing}" in message


def _set_in_part(folder: Path, part: str, **settings) -> str:
    path = folder / "config.json"
    read = json.loads(path.read_text())
    read[f"{part}_config"] |= settings
    path.write_text(json.dumps(read))
    return str(folder)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_hidden_layers": 10**9}, "num_hidden_layers = 1000000000"),
        ({"pruned_heads": {"0": [0]}}, "pruned_heads"),
    ],
)
def test_settings_of_parts_are_checked_like_those_of_models(folder, settings, sentence):
    name = _set_in_part(folder, "text", **settings)
    assert sentence in refused(UnfitModel, load_model, name, device="cpu", part="vision")


def test_a_part_that_is_no_object_is_refused(folder):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"text_config": [1]}))
    message = refused(UnfitModel, load_model, str(folder), device="cpu", part="text")
    assert message.endswith("has text_config = [1]; it must be an object.")


def test_how_the_library_would_run_a_part_changes_nothing(folder):
    before = load_model(str(folder), device="cpu", part="text")
    name = _set_in_part(folder, "text", return_dict=False, _attn_implementation="sdpa")
    after = load_model(name, device="cpu", part="text")
    assert after.model.config._attn_implementation == "eager"
    assert after.model.config.to_dict() == before.model.config.to_dict()


@pytest.mark.parametrize(("family", "part"), [("clip", "vision"), ("bart", None)])
def test_a_part_is_drawn_untrained(saved, family, part):
    trained, drawn, other = (
        load_model(str(saved[family]), device="cpu", part=part, random_weights=seed)
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


@pytest.mark.parametrize("listed", ["{}", "[]", '[{"path": ".."}]', '[{"path": "a/../.."}]',
                                    '[{"path": "no"}]', '[{"path": ""}, {"type": "a b"}]',
                                    '[{"path": ""}, 1]'])  # fmt: skip
def test_a_broken_list_of_modules_is_refused(listed, tmp_path):
    save_tiny("bert", tmp_path)
    (tmp_path / "modules.json").write_text(listed)
    message = refused(UnfitModel, load_model, str(tmp_path), device="cpu")
    assert "modules.json of model" in message
    assert message.endswith("Save the model again with sentence-transformers.")


def test_a_type_that_has_no_bare_model_is_refused_in_one_short_line(tmp_path):
    folder = save_tiny("vit", tmp_path)
    (folder / "config.json").write_text(
        '{"model_type": "vision-encoder-decoder", "encoder": {"model_type": "vit"}, '
        '"decoder": {"model_type": "bert"}}'
    )
    message = refused(UnfitModel, load_model, str(folder), device="cpu")
    assert "Unrecognized configuration class" in message
    assert len(message) < 700
