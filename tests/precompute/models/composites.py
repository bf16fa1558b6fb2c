"""Tiny checkpoints that hold several models, as folders in Hugging Face format."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.models.trace import Model
from tests.precompute.corpora.tiny import bert_like

SIDE = 12
_SIZES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
_HEADS = {"num_attention_heads": 2}
_TEXT = _SIZES | _HEADS | {"vocab_size": len(bert_like()), "max_position_embeddings": 64}
_TEXT |= {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
_DECODER = _TEXT | {"num_key_value_heads": 1, "head_dim": 8}
_VISION = _SIZES | _HEADS | {"image_size": SIDE, "patch_size": 4}
_SECTIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}
_CLIP_VISION = {"model_type": "clip_vision_model"} | _VISION
_SIGLIP_VISION = {"model_type": "siglip_vision_model"} | _VISION
NESTED: dict[str, dict[str, Any]] = {
    "clip": {"text_config": _TEXT, "vision_config": _VISION},
    "siglip": {"text_config": _TEXT, "vision_config": _VISION},
    "blip": {"text_config": _TEXT, "vision_config": _VISION},
    "llava": {
        "text_config": _DECODER | {"model_type": "llama"},
        "vision_config": _CLIP_VISION,
        "vision_feature_layer": -1,
    },
    "gemma3": {"text_config": _DECODER, "vision_config": _SIGLIP_VISION},
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
