"""Folders of models that are refused, each with its sentence; nothing in them is run."""

import re
import shutil
import struct
import tomllib
from pathlib import Path
from typing import Any

import pytest
import transformers

from analysis.errors import UserError
from precompute.models.load_models import load_model
from tests.precompute.models.changed_files import (
    CONFIG,
    MARK,
    PROCESSOR,
    TOKENIZER,
    WEIGHTS,
    Change,
    added,
    as_folder,
    both,
    change_weights,
    filled,
    in_part,
    indexed,
    lacking,
    pickled,
    settings,
    text,
    unchanged,
    with_bytes,
    with_ids,
    without,
)
from tests.refusals import refused


def _with_channels(folder: Path, n_channels: int) -> None:
    config = transformers.ViTConfig.from_pretrained(folder, num_channels=n_channels)
    transformers.ViTForImageClassification(config).save_pretrained(folder)


UNCOVERED: dict[str, Any] = {
    "pruned_heads": {"0": [1, 2]},
    "quantization_config": {"quant_method": "gptq", "bits": 4},
    "add_cross_attention": True,
    "per_layer_config": {"0": {"hidden_act": "relu"}},
    "transformers_weights": "other.safetensors",
    "position_embedding_type": "relative_key_query",
}
NO_PLACE = {
    "biases of Qwen 2": ("mistral+head", "model.layers.0.self_attn.q_proj.bias", 12),
    "distances": ("bert+head", "bert.encoder.layer.0.attention.self.distance_embedding.weight", 6),
    "norms of queries": ("llama+head", "model.layers.1.self_attn.q_norm.weight", 6),
    "a layer more": ("gpt2+head", "transformer.h.2.attn.c_attn.weight", (12, 36)),
    "a part without the name of the model": ("bert+head", "encoder.norm.weight", 12),
    "a bias of the head": ("llama+head", "lm_head.bias", 12),
}
MODULES = ["{}", '[{"path": "a/../.."}]', '[{"path": ""}, {"type": "a b"}]', '[{"path": ""}, 1]']
CASES: dict[str, tuple[str, dict[str, Any], Change]] = {
    "an adapter beside": ("bert", {}, text("adapter_config.json", "{}")),
    "a pickled adapter": ("bert", {}, text("adapter_model.bin", "{}")),
    "pickles alone": ("bert", {}, both(pickled("pytorch_model.bin"), without(WEIGHTS))),
    "no configuration": ("bert", {}, without(CONFIG)),
    "an unknown type": ("bert", {}, settings(model_type="brt")),
    "weights by another name": (
        "bert", {}, lambda folder: (folder / WEIGHTS).rename(folder / "consolidated.safetensors"),
    ),
    "weights of a training": (
        "bert", {},
        lambda folder: shutil.copy(
            folder / WEIGHTS, folder / "shard-00000-model-00001-of-00002.safetensors"
        ),
    ),
    "an index of what is not there": ("bert", {}, indexed("model-9.safetensors")),
    "an index of what is elsewhere": ("bert", {}, indexed("../other.safetensors")),
    "an index of nothing": ("bert", {}, indexed(None)),
    "weights of another size": ("bert", {}, settings(intermediate_size=25)),
    "a tensor less": ("bert", {}, lacking("1.attention.self.value.weight")),
    "a tensor less behind a head": ("gpt2+head", {}, lacking("1.attn.c_attn.weight")),
    **{
        f"{key} of {'weights that are drawn' if seed == 0 else 'a model'}": (
            "bert", {"random_weights": seed},
            both(settings(**{key: value}), text(WEIGHTS, "never read")),
        )
        for (key, value), seed in zip(UNCOVERED.items(), [None, 0] * 3, strict=True)
    },
    **{
        f"weights with {name}": (family, {}, added(tensor, shape))
        for name, (family, tensor, shape) in NO_PLACE.items()
    },
    "layers without end of random weights": (
        "bert", {"random_weights": 0}, settings(num_hidden_layers=10**9),
    ),
    "no class token": ("dinov3_vit", {}, lacking("cls_token")),
    "no image processor": ("vit", {}, without(PROCESSOR)),
    **{
        f"an image processor of {content}": ("vit", {}, text(PROCESSOR, content))
        for content in ("[]", '{"image_processor_type": "NoSuchProcessor"}')
    },
    "images of another size": ("vit", {}, settings(PROCESSOR, size={"height": 16, "width": 16})),
    "images of changing size": (
        "dinov2", {}, settings(PROCESSOR, do_center_crop=False, size={"shortest_edge": 12}),
    ),
    "a processor of greys": ("vit", {}, settings(PROCESSOR, image_mean=[0.5], image_std=[0.5])),
    "a processor of colours": (
        "vit", {},
        both(lambda folder: _with_channels(folder, 1), settings(PROCESSOR, do_convert_rgb=True)),
    ),
    "four channels": ("vit", {}, lambda folder: _with_channels(folder, 4)),
    "no part of two": ("gemma3", {}, unchanged),
    "a part that it lacks": ("clip", {"part": "encoder"}, unchanged),
    "a part of an encoder": ("bart", {"part": "vision"}, unchanged),
    "a part of a whole": ("bert", {"part": "text"}, unchanged),
    "images of many sizes": ("qwen2_vl", {"part": "vision"}, unchanged),
    "a tensor less of another part": (
        "clip", {"part": "text"}, lacking("vision_model.encoder.layers.0.layer_norm1.weight"),
    ),
    "layers without end in a part": (
        "clip", {"part": "vision"}, in_part("text", num_hidden_layers=10**9),
    ),
    "a part whose heads are pruned": (
        "clip", {"part": "vision"}, in_part("text", pruned_heads={"0": [0]}),
    ),
    "a part that is no object": ("clip", {"part": "text"}, settings(text_config=[1])),
    "an encoder and a decoder of two types": (
        "vit", {},
        settings(
            model_type="vision-encoder-decoder", encoder={"model_type": "vit"},
            decoder={"model_type": "bert"},
        ),
    ),
    **{
        f"modules {listed}": ("bert", {}, text("modules.json", listed)) for listed in MODULES
    },
}  # fmt: skip
"""A family, options, and what is done to its folder."""
HOSTILE: dict[str, Change] = {
    "layers without end": settings(num_hidden_layers=10**9),
    "a width without end": settings(hidden_size=3 * 10**9),
    "no layer": settings(num_hidden_layers=0),
    "a width that heads do not share": settings(num_attention_heads=5),
    "a thousand heads": settings(num_attention_heads=1000),
    "no number of layers": settings(num_hidden_layers=None),
    "an unknown activation": settings(hidden_act="__import__('os').system('true')"),
    "padding outside the vocabulary": settings(pad_token_id=10**9),
    "an epsilon that is no number": settings(layer_norm_eps=float("nan")),
    "a dropout of seven": settings(hidden_dropout_prob=7),
    "a number format that is none": settings(dtype="float31", torch_dtype="float31"),
    "architectures that are a number": settings(architectures=5),
    "quantized by something": settings(quantization_config={"quant_method": "own"}),
    "another family": settings(model_type="bert/../gpt2"),
    "a family that is a list": settings(model_type=["bert"]),
    "labels without end": settings(num_labels=10**10),
    "a configuration that is a list": text(CONFIG, "[1]"),
    "a configuration nested deeply": text(CONFIG, '{"a":' * 100_000),
    "a configuration of bytes": lambda folder: (folder / CONFIG).write_bytes(b"\xff\xfe{}"),
    "a configuration that is a folder": as_folder(CONFIG),
    "a pickle by the name of weights": pickled(WEIGHTS),
    "weights cut off": with_bytes(lambda content: content[: len(content) // 2]),
    "a header without end": with_bytes(lambda content: struct.pack("<Q", 2**62) + content[8:]),
    "weights that are a folder": as_folder(WEIGHTS),
    "weights that never end": both(
        without(WEIGHTS), lambda folder: (folder / WEIGHTS).symlink_to("/dev/zero")
    ),
    "weights that are no numbers": filled(float("nan")),
    "weights of nothing": lambda folder: change_weights(folder, dict.clear),
    "a tokenizer cut off": text(TOKENIZER, '{"version": "1.0", "model": {'),
    "a tokenizer of nothing": text(TOKENIZER, "{}"),
    "a tokenizer whose ids have no end": with_ids(2**31),
    "a longest text in words": text("tokenizer_config.json", '{"model_max_length": "7"}'),
    "settings of a tokenizer in a list": text("tokenizer_config.json", "[1]"),
    "special tokens that are numbers": text("special_tokens_map.json", '{"cls_token": 5}'),
}
"""Changes to the folder of a tiny BERT, by somebody who means no good or by accident."""
EVERY = CASES | {name: ("bert", {}, change) for name, change in HOSTILE.items()}
SENTENCES = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", EVERY)
def test_a_model_that_cannot_be_read_is_refused_in_one_sentence(name, copied):
    """`…` stands for the library's own words in the sentences, M for the folder."""
    family, options, change = EVERY[name]
    family, _, head = family.partition("+")
    folder = copied(family, bare=not head)
    change(folder)
    said = refused(UserError, load_model, str(folder), device="cpu", **options)
    expected = ".+".join(map(re.escape, SENTENCES[name].split("…")))
    assert re.fullmatch(expected, said.replace(str(folder), "M")), said
    assert not (folder / MARK).exists()


def test_every_sentence_is_of_a_case():
    assert {*SENTENCES} == {*EVERY}
