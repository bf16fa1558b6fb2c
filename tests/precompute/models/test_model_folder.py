"""Files next to the weights, and settings of the model run: refused, or without effect."""

import json
import shutil
from pathlib import Path
from types import NoneType

import pytest
from safetensors.torch import load_file, save_file

from analysis.errors import UnfitModel
from precompute.models.load_models import load_model
from precompute.models.model_folder import configuration_of, weight_files, weights_sha256_of
from tests.precompute.models.changed_files import change_settings
from tests.refusals import refused
from tests.tiny import TINY, save_tiny, tiny_sequences
from tests.tracing import trace_of

TINY_FAMILIES = ("bert", "gpt2", "llama", "modernbert", "t5", "deberta-v2", "gpt_neox", "vit")
"""One of every module that makes the call."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return save_tiny("bert", tmp_path_factory.mktemp("sound") / "model")


@pytest.fixture
def folder(sound, tmp_path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def _set(folder: Path, **changed) -> Path:
    change_settings(folder / "config.json", **changed)
    return folder


@pytest.mark.parametrize(
    "file", ["adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"]
)
@pytest.mark.parametrize("is_alone", [True, False])
def test_an_adapter_is_refused_alone_and_beside_the_weights(folder, file, is_alone):
    (folder / file).write_bytes(b"{}")
    if is_alone:
        (folder / "model.safetensors").unlink()
        (folder / "config.json").unlink()
    assert refused(UnfitModel, load_model, str(folder)) == (
        f"Model {str(folder)!r} holds an adapter ({file}), which is not applied. Merge it first: "
        "call merge_and_unload of peft, and save the whole model in a folder of its own."
    )


@pytest.mark.parametrize(
    "beside",
    [
        "model.fp16.safetensors",
        "consolidated.safetensors",
        "optimizer.safetensors",
        "model-00001-of-00002.safetensors",
        "pytorch_model.bin",
        "optimizer.pt",
    ],
)
def test_the_hash_is_that_of_what_is_loaded_whatever_lies_beside_it(folder, sound, beside):
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor * 3 for name, tensor in tensors.items()}, folder / beside)
    found, expected = (load_model(str(path), device="cpu") for path in (folder, sound))
    assert found.weights_sha256 == expected.weights_sha256
    for name, parameter in found.model.named_parameters():
        assert parameter.equal(expected.model.get_parameter(name)), name


def _cut(folder: Path, shards: dict[str, str] | None = None) -> dict[str, str]:
    """The weights in two files with an index, as large models have them; returns the index."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    index = {tensor: names[place % 2] for place, tensor in enumerate(sorted(tensors))}
    for name in names:
        of_file = {tensor: tensors[tensor] for tensor in tensors if index[tensor] == name}
        save_file(of_file, folder / name, metadata={"format": "pt"})
    _write_index(folder, index | (shards or {}))
    return index


def _write_index(folder: Path, index: object) -> None:
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": index})
    )


def test_weights_in_several_files_are_those_that_the_index_names(folder, sound):
    _cut(folder)
    before = weights_sha256_of(folder, "m")
    (folder / "model-00003-of-00003.safetensors").write_bytes(b"left from before")
    assert [file.name for file in weight_files(folder, "m")] == [
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
    ]
    found = load_model(str(folder), device="cpu")
    assert found.weights_sha256 == before
    expected = load_model(str(sound), device="cpu").model
    for name, parameter in found.model.named_parameters():
        assert parameter.equal(expected.get_parameter(name)), name


@pytest.mark.parametrize("named", ["model-00009-of-00009.safetensors", "../other.safetensors"])
def test_an_index_that_names_what_is_not_beside_it_is_refused(folder, named):
    _cut(folder, {"more": named})
    (folder.parent / "other.safetensors").write_bytes(b"of somebody else")
    assert refused(UnfitModel, load_model, str(folder)) == (
        f"model.safetensors.index.json of model {str(folder)!r} names {named}, which is not beside "
        "it. Give the folder of the whole model."
    )


def test_an_index_of_nothing_is_refused(folder):
    _cut(folder)
    _write_index(folder, None)
    assert refused(UnfitModel, load_model, str(folder)) == (
        f"model.safetensors.index.json of model {str(folder)!r} names no files. Save the model "
        "again."
    )


def test_weights_under_another_name_alone_are_refused(folder):
    (folder / "model.safetensors").rename(folder / "consolidated.safetensors")
    assert refused(UnfitModel, load_model, str(folder)) == (
        f"Model {str(folder)!r} holds consolidated.safetensors and no model.safetensors, which "
        "alone is read. Save it again with save_pretrained, which writes model.safetensors."
    )


def test_weights_that_the_library_would_load_before_the_model_are_refused(folder):
    name = "shard-00000-model-00001-of-00002.safetensors"
    shutil.copy(folder / "model.safetensors", folder / name)
    message = refused(UnfitModel, load_model, str(folder))
    assert message.startswith(f"Model {str(folder)!r} holds {name}, as training on several devices")


REFUSED = {
    "pruned_heads": ({"0": [1, 2]}, "layers that lack heads are not read"),
    "quantization_config": ({"quant_method": "gptq", "bits": 4}, "quantised weights are not read"),
    "add_cross_attention": (True, "attention to a second text is not read"),
    "per_layer_config": ({"0": {"hidden_act": "relu"}}, "layers of several sizes are not read"),
    "transformers_weights": ("other.safetensors", "model.safetensors alone is read"),
}


@pytest.mark.parametrize("key", REFUSED)
@pytest.mark.parametrize("seed", [None, 0])
def test_a_setting_that_is_not_covered_is_named_before_anything_is_loaded(folder, key, seed):
    value, why = REFUSED[key]
    (_set(folder, **{key: value}) / "model.safetensors").write_bytes(b"never read")
    message = refused(UnfitModel, load_model, str(folder), random_weights=seed)
    assert message.startswith(f"config.json of model {str(folder)!r} has {key} = {str(value)[:30]}")
    assert f"; {why}. " in message


@pytest.mark.parametrize("empty", [None, {}])
def test_a_setting_that_is_empty_says_nothing(folder, empty):
    _set(folder, pruned_heads=empty, quantization_config=empty)
    assert configuration_of(folder, "m")["num_hidden_layers"] == 2


def test_weights_of_another_size_are_told_with_their_tensor(folder):
    assert refused(UnfitModel, load_model, str(_set(folder, intermediate_size=25))) == (
        f"The weights in {folder} do not fit its config.json: "
        "encoder.layer.0.intermediate.dense.bias is (24,) in the one and (25,) by the other. Give "
        "the folder as the model was saved."
    )


CALLS = {
    "return_dict": False,
    "use_return_dict": False,
    "output_attentions": True,
    "output_hidden_states": True,
    "torchscript": True,
    "use_cache": True,
    "attn_implementation": "sdpa",
    "_attn_implementation": "flash_attention_2",
    "gradient_checkpointing": True,
    "pretraining_tp": 2,
    "fusion_config": {"patch_embeddings": True},
}
"""Settings of how a model is run and of what it returns."""


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_how_a_model_asks_to_be_called_changes_no_number(family, tmp_path):
    predicts = family in TINY and TINY[family].language_model is not NoneType
    folder = save_tiny(family, tmp_path / "model", predicts_tokens=predicts)
    sequences = tiny_sequences(family)
    expected = load_model(str(folder), device="cpu")
    found = load_model(str(_set(folder, **CALLS)), device="cpu")
    for layer, other in zip(
        trace_of(found, sequences).layers, trace_of(expected, sequences).layers, strict=True
    ):
        assert layer.attention.equal(other.attention)
        assert layer.output.equal(other.output)
    given, wanted = found.gradients(sequences), expected.gradients(sequences)
    assert (given is None) == (wanted is None)
    if given is not None and wanted is not None:
        pairs = zip(given.layers, wanted.layers, strict=True)
        assert all(layer.equal(other) for layer, other in pairs)
    if family == "vit":
        classes = [model.classification for model in (found, expected)]
        shares = [known.probabilities(sequences) for known in classes if known is not None]
        assert shares[0].equal(shares[1])


def test_a_decoder_that_looks_both_ways_is_read_as_one(tmp_path):
    folder = save_tiny("gpt2", tmp_path / "model")
    expected, found = load_model(str(folder)), load_model(str(_set(folder, is_causal=False)))
    assert expected.layers[0].is_causal
    assert not found.layers[0].is_causal
    later = trace_of(found, tiny_sequences("gpt2")).layers[0].attention[0, 0].triu(1)
    assert later.count_nonzero() > 0
