"""Tiny checkpoints that hold several models, and changes to the files of saved ones."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.models.trace import Model
from tests.precompute.corpora.tiny import bert_like

Change = Callable[[Path], object]
"""Change to the folder of a sound model."""
CONFIG, PROCESSOR, WEIGHTS = "config.json", "preprocessor_config.json", "model.safetensors"
TOKENIZER, INDEX = "tokenizer.json", f"{WEIGHTS}.index.json"
MARK = "was-run"
"""The file that code which comes with a model would write beside it, if it were run."""


def change_settings(file: Path, **changed: object) -> None:
    """Give settings of a JSON file other values; the file is made if there is none."""
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(known | changed))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Save the weights of a folder again after a change to the tensors in place."""
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def unchanged(_folder: Path) -> None:
    """Leave a folder as it was saved: options alone do not fit it."""


def settings(file: str = CONFIG, **changed: Any) -> Change:
    return lambda folder: change_settings(folder / file, **changed)


def text(file: str, content: str) -> Change:
    return lambda folder: (folder / file).write_text(content)


def without(*files: str) -> Change:
    return lambda folder: [(folder / file).unlink() for file in files]


def lacking(*ends: str) -> Change:
    """Drop the tensors whose names end so."""

    def drop(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if name.endswith(ends)]:
            del tensors[name]

    return lambda folder: change_weights(folder, drop)


def added(tensor: str, shape: Any) -> Change:
    def add(folder: Path) -> None:
        change_weights(folder, lambda held: held.update({tensor: torch.ones(shape)}))

    return add


def in_part(part: str, **changed: Any) -> Change:
    def change(folder: Path) -> None:
        known = json.loads((folder / CONFIG).read_text())[f"{part}_config"]
        change_settings(folder / CONFIG, **{f"{part}_config": known | changed})

    return change


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


def indexed(named: str) -> Change:
    """Give the weights another name and an index, which names a file more."""
    files = {"a": "model-1.safetensors", "more": named}

    def change(folder: Path) -> None:
        (folder.parent / "other.safetensors").write_bytes(b"of somebody else")
        (folder / WEIGHTS).rename(folder / "model-1.safetensors")
        (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": files}))

    return change


class _Runs:
    def __init__(self, mark: Path) -> None:
        self.code = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"

    def __reduce__(self) -> tuple:
        return (exec, (self.code,))


def pickled(*files: str) -> Change:
    """Write pickles that run code when they are read."""

    def change(folder: Path) -> None:
        for file in files:
            (folder / file).write_bytes(pickle.dumps(_Runs(folder / MARK)))

    return change


def with_ids(more: int) -> Change:
    """Give tokens ids beyond the model's embedding."""

    def change(folder: Path) -> None:
        known = json.loads((folder / TOKENIZER).read_text())
        vocabulary = known["model"]["vocab"]
        known["model"]["vocab"] = {
            token: place + more * (place > 5) for token, place in vocabulary.items()
        }
        (folder / TOKENIZER).write_text(json.dumps(known))

    return change


SIDE = 12
_SIZES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
_HEADS = {"num_attention_heads": 2}
_TEXT = _SIZES | _HEADS | {"vocab_size": len(bert_like()), "max_position_embeddings": 64}
_TEXT |= {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
_DECODER = _TEXT | {"num_key_value_heads": 1, "head_dim": 8}
_VISION = _SIZES | _HEADS | {"image_size": SIDE, "patch_size": 4}
_SECTIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}
NESTED: dict[str, dict[str, Any]] = {
    "clip": {"text_config": _TEXT, "vision_config": _VISION},
    "llava": {
        "text_config": _DECODER | {"model_type": "llama"},
        "vision_config": {"model_type": "clip_vision_model"} | _VISION,
        "vision_feature_layer": -1,
    },
    "qwen2_vl": {
        "text_config": _DECODER | {"rope_parameters": _SECTIONS},
        "vision_config": {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 16},
    },
    "bart": {
        **{"encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 24},
        **{"decoder_layers": 1, "decoder_attention_heads": 4, "decoder_ffn_dim": 20},
        **{"d_model": 16, "vocab_size": len(bert_like()), "max_position_embeddings": 64},
        **{"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2},
    },
}
"""Settings of each type: its parts, or an encoder and a decoder."""


def composite(family: str) -> Model:
    """The whole model, the same every time, in float32."""
    torch.manual_seed(0)
    config = CONFIG_MAPPING[family](**NESTED[family])
    whole: Any = transformers.AutoModel.from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in whole.parameters():  # biases start at 0 and would hide in every test
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return whole.eval().requires_grad_(False)


def save_composite(family: str, folder: Path) -> Path:
    """The whole model with its tokenizer and image processor."""
    composite(family).save_pretrained(folder)
    bert_like().save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    transformers.CLIPImageProcessorPil(size=size, crop_size=size).save_pretrained(folder)
    return folder


def list_modules(folder: Path, path: str, *kinds: str) -> Path:
    """Write the list of modules of sentence-transformers."""
    packages = "sentence_transformers.models."
    paths = [path, *(f"{place}_{kind}" for place, kind in enumerate(kinds, start=1))]
    listed = [
        {"idx": place, "name": str(place), "path": where, "type": packages + kind}
        for place, (where, kind) in enumerate(zip(paths, ("Transformer", *kinds), strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    return folder
