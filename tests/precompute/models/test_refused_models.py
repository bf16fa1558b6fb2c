"""Folders of models that are refused, each with its sentence; nothing in them is run."""

import os
import re
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
    both,
    change_weights,
    in_part,
    indexed,
    lacking,
    pickled,
    settings,
    text,
    unchanged,
    with_ids,
    without,
)
from tests.refusals import refused


def _grey(folder: Path) -> None:
    config = transformers.ViTConfig.from_pretrained(folder, num_channels=1)
    transformers.ViTForImageClassification(config).save_pretrained(folder)


UNCOVERED: dict[str, Any] = {
    "pruned_heads": {"0": [1, 2]},
    "quantization_config": {"quant_method": "gptq", "bits": 4},
    "add_cross_attention": True,
}
CASES: dict[str, tuple[str, dict[str, Any], Change]] = {
    "an adapter beside": ("bert", {}, text("adapter_config.json", "{}")),
    "a pickled adapter": ("bert", {}, text("adapter_model.bin", "{}")),
    "no configuration": ("bert", {}, without(CONFIG)),
    "an unknown type": ("bert", {}, settings(model_type="brt")),
    "an index of what is not there": ("bert", {}, indexed("model-9.safetensors")),
    "an index of what is elsewhere": ("bert", {}, indexed("../other.safetensors")),
    "a tensor less": ("bert", {}, lacking("1.attention.self.value.weight")),
    **{
        f"{key} of {'weights that are drawn' if seed == 0 else 'a model'}": (
            "bert", {"random_weights": seed},
            both(settings(**{key: value}), text(WEIGHTS, "never read")),
        )
        for (key, value), seed in zip(UNCOVERED.items(), [None, 0, None], strict=True)
    },
    "weights with a layer more": (
        "gpt2+head", {}, added("transformer.h.2.attn.c_attn.weight", (12, 36)),
    ),
    "weights with a bias of the head": ("llama+head", {}, added("lm_head.bias", 12)),
    "no image processor": ("vit", {}, without(PROCESSOR)),
    "an image processor of []": ("vit", {}, text(PROCESSOR, "[]")),
    "images of another size": ("vit", {}, settings(PROCESSOR, size={"height": 16, "width": 16})),
    "images of changing size": (
        "dinov2", {}, settings(PROCESSOR, do_center_crop=False, size={"shortest_edge": 12}),
    ),
    "a processor of colours": (
        "vit", {},
        both(_grey, settings(PROCESSOR, do_convert_rgb=True)),
    ),
    "no part of two": ("llava", {}, unchanged),
    "a part that it lacks": ("clip", {"part": "encoder"}, unchanged),
    "a part of a whole": ("bert", {"part": "text"}, unchanged),
    "images of many sizes": ("qwen2_vl", {"part": "vision"}, unchanged),
    "a tensor less of another part": (
        "clip", {"part": "text"}, lacking("vision_model.encoder.layers.0.layer_norm1.weight"),
    ),
    "layers without end in a part": (
        "clip", {"part": "vision"}, in_part("text", num_hidden_layers=10**9),
    ),
    "a part that is no object": ("clip", {"part": "text"}, settings(text_config=[1])),
    "modules elsewhere": ("bert", {}, text("modules.json", '[{"path": "a/../.."}]')),
}  # fmt: skip
"""A family, options, and what is done to its folder."""
HOSTILE: dict[str, Change] = {
    "layers without end": settings(num_hidden_layers=10**9),
    "no layer": settings(num_hidden_layers=0),
    "an unknown activation": settings(hidden_act="__import__('os').system('true')"),
    "an epsilon that is no number": settings(layer_norm_eps=float("nan")),
    "a number format that is none": settings(dtype="float31", torch_dtype="float31"),
    "architectures that are a number": settings(architectures=5),
    "a family that is a list": settings(model_type=["bert"]),
    "labels without end": settings(num_labels=10**10),
    "a configuration that is a list": text(CONFIG, "[1]"),
    "a configuration nested deeply": text(CONFIG, '{"a":' * 100_000),
    "a pickle by the name of weights": pickled(WEIGHTS),
    "weights cut off": lambda folder: os.truncate(folder / WEIGHTS, 5000),
    "a header without end": lambda folder: (folder / WEIGHTS).write_bytes(b"\xff" * 99),
    "weights that never end": both(
        without(WEIGHTS), lambda folder: (folder / WEIGHTS).symlink_to("/dev/zero")
    ),
    "weights that are no numbers": lambda folder: change_weights(
        folder, lambda held: [tensor.fill_(float("nan")) for tensor in held.values()]
    ),
    "a tokenizer cut off": text(TOKENIZER, '{"version": "1.0", "model": {'),
    "a tokenizer whose ids have no end": with_ids(2**31),
    "a longest text in words": text("tokenizer_config.json", '{"model_max_length": "7"}'),
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
