"""Decoders of Llama's build in GGUF files, made float32 in Hugging Face format."""

import struct
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import transformers
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""Formats of numbers in `struct`, by their numbers in GGUF."""
_TEXT, _LIST = 8, 9
_ALIGNMENT = 32  # bytes
_BLOCKS = {
    0: (1, np.dtype([("value", "<f4")])),
    3: (32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("codes", "u1", 16)])),
    8: (32, np.dtype([("scale", "<f2"), ("codes", "i1", 32)])),
}
"""Number of weights and layout of a block of F32, Q4_1 and Q8_0, by their numbers in GGUF."""
_SPECIAL = 3
"""Type of control tokens in the vocabulary."""
_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_OUTER = {"token_embd": "embed_tokens", "output_norm": "norm"}


def convert_gguf(path: Path, folder: Path) -> None:
    """Write configuration, tokenizer and float32 weights of a GGUF file into a folder.

    The file is trusted: check its hash before. One file gives the same bytes on every machine.

    Differs:
        The library's own reader of GGUF makes a tokenizer that does not part digits from spaces.
    """
    with path.open("rb") as file:
        facts, tensors = _read(file)
    config = _config(facts)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    named = {}
    for name, values in tensors.items():
        *block, part, _ = name.split(".")
        if part in heads:  # the two rows of a plane side by side, in the library half a head apart
            planes = values.reshape(heads[part], -1, 2, values.shape[1])
            values = planes.swapaxes(1, 2).reshape(values.shape)
        inside = f"layers.{block[1]}.{_NAMES[part]}" if block else _OUTER[part]
        named[f"model.{inside}.weight"] = np.ascontiguousarray(values)
    config.save_pretrained(folder)
    _tokenizer(facts).save_pretrained(folder)
    save_file(named, folder / "model.safetensors", {"format": "pt"})


def _read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the facts of a file and its tensors, in float32."""
    file.seek(8)  # after the magic word and the version
    n_tensors, n_facts = _scalar(file, "Q"), _scalar(file, "Q")
    facts = {_text(file): _value(file, _scalar(file, "I")) for _ in range(n_facts)}
    described = []
    for _ in range(n_tensors):
        name = _text(file)
        shape = tuple(_scalar(file, "Q") for _ in range(_scalar(file, "I")))[::-1]
        described.append((name, shape, _scalar(file, "I"), _scalar(file, "Q")))
    start = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
    tensors = {}
    for name, shape, kind, offset in described:
        size, layout = _BLOCKS[kind]
        file.seek(start + offset)
        blocks = np.frombuffer(file.read(prod(shape) // size * layout.itemsize), layout)
        tensors[name] = _floats(blocks).reshape(shape)
    return facts, tensors


def _scalar(file: BinaryIO, kind: str) -> Any:
    return struct.unpack(f"<{kind}", file.read(struct.calcsize(f"<{kind}")))[0]


def _text(file: BinaryIO) -> str:
    return file.read(_scalar(file, "Q")).decode()


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind != _LIST:
        return _scalar(file, _SCALARS[kind])
    kind, n = _scalar(file, "I"), _scalar(file, "Q")
    return [_value(file, kind) for _ in range(n)]


def _floats(blocks: np.ndarray) -> np.ndarray:
    """Return the weights of blocks: code · scale, with Q4_1 + the least weight of the block."""
    fields = blocks.dtype.names or ()
    if "value" in fields:
        return blocks["value"]
    codes, scale = blocks["codes"], blocks["scale"].astype(np.float32)[:, None]
    if "least" not in fields:
        return codes.astype(np.float32) * scale
    codes = np.concatenate([codes & 15, codes >> 4], axis=1).astype(np.float32)
    return codes * scale + blocks["least"].astype(np.float32)[:, None]


def _config(facts: dict[str, Any]) -> transformers.LlamaConfig:
    """Return the configuration; numbers are the shortest that are the same in float32."""
    sizes = {key.removeprefix("llama."): fact for key, fact in facts.items()}
    theta, epsilon = (
        float(str(np.float32(sizes[key])))
        for key in ("rope.freq_base", "attention.layer_norm_rms_epsilon")
    )
    return transformers.LlamaConfig(
        architectures=["LlamaForCausalLM"],
        dtype="float32",
        vocab_size=sizes["vocab_size"],
        hidden_size=sizes["embedding_length"],
        intermediate_size=sizes["feed_forward_length"],
        num_hidden_layers=sizes["block_count"],
        num_attention_heads=sizes["attention.head_count"],
        num_key_value_heads=sizes["attention.head_count_kv"],
        max_position_embeddings=sizes["context_length"],
        rms_norm_eps=epsilon,
        rope_parameters={"rope_type": "default", "rope_theta": theta},
        tie_word_embeddings=True,
        bos_token_id=facts["tokenizer.ggml.bos_token_id"],
        eos_token_id=facts["tokenizer.ggml.eos_token_id"],
        pad_token_id=facts["tokenizer.ggml.padding_token_id"],
    )


def _tokenizer(facts: dict[str, Any]) -> transformers.PreTrainedTokenizerFast:
    """Return the tokenizer named `smollm`: digits one by one, the rest as GPT-2's, and no BOS."""
    tokens, types, merges = (
        facts[f"tokenizer.ggml.{name}"] for name in ("tokens", "token_type", "merges")
    )
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [tuple(pair.split(" ")) for pair in merges]))
    by_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), by_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, types, strict=True) if kind == _SPECIAL]
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in special])
    roles = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **{
            f"{role}_token": tokens[facts[f"tokenizer.ggml.{name}_token_id"]]
            for role, name in roles.items()
        },
    )
