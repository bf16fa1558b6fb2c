"""A tiny decoder and its tokenizer as a GGUF file, written from the format's description."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import LlamaConfig, LlamaForCausalLM

HEADS, KEY_HEADS, WIDTH, LAYERS = 4, 2, 32, 2
_ROLES = {"bos": 1, "eos": 2, "unknown": 0, "padding": 2}
_MERGES = ["Ġ Ġ", "c a", "ca t", "Ġ cat", "Ġ 5", "c 5"]
_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<file_sep>"]
_TOKENS = [*_SPECIAL, *sorted(ByteLevel.alphabet())]
TOKENS = [*_TOKENS, *(merge.replace(" ", "") for merge in _MERGES)]
_NAMES = (
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("input_layernorm", "attn_norm"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("model.layers", "blk"),
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
)


def write_gguf(path: Path) -> LlamaForCausalLM:
    """Write a model whose weights 4 bits can hold; return it."""
    model = _model()
    tensors = {}
    for name, values in model.state_dict().items():
        if name == "lm_head.weight":  # the embedding
            continue
        for there, here in _NAMES:
            name = name.replace(there, here)
        tensors[name] = _stored(name, values.numpy())
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(_facts())))
        for key, value in _facts().items():
            file.write(_text(key) + _fact(value))
        offset = 0
        for name, (kind, shape, content) in tensors.items():
            file.write(_text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1]))
            file.write(struct.pack("<IQ", kind, offset))
            offset += len(content)
        file.write(bytes(-file.tell() % 32))
        file.writelines(content for _, _, content in tensors.values())
    return model


def _model() -> LlamaForCausalLM:
    """Build a decoder of random weights code · scale + least, as their number format has them."""
    config = LlamaConfig(
        vocab_size=len(TOKENS), hidden_size=WIDTH, intermediate_size=64, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KEY_HEADS, max_position_embeddings=256,
        rms_norm_eps=1e-5, rope_parameters={"rope_type": "default", "rope_theta": 100.0},
        tie_word_embeddings=True,
    )  # fmt: skip
    drawn = torch.Generator().manual_seed(0)
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    for name, weight in model.named_parameters():
        least, most = (-127, 127) if "embed" in name else (0, 15)
        codes = torch.randint(least, most + 1, weight.shape, generator=drawn)
        codes.view(-1, 32)[:, :2] = torch.tensor([least, most])  # in every block
        weight.copy_(codes / 64 if "embed" in name else codes / 32 - 0.25)
    return model


def _stored(name: str, values: np.ndarray) -> tuple[int, tuple[int, ...], bytes]:
    """Kind, shape and bytes of a tensor: norms F32, the embedding Q8_0, the rest Q4_1."""
    if "norm" in name:
        return 0, values.shape, values.astype("<f4").tobytes()
    if "embd" in name:
        codes = np.round(values * 64).astype("i1").reshape(-1, 32)
        return 8, values.shape, b"".join(struct.pack("<e", 1 / 64) + row.tobytes() for row in codes)
    if "attn_q" in name or "attn_k" in name:
        values = _side_by_side(values, HEADS if "attn_q" in name else KEY_HEADS)
    content = b""
    for row in np.round((values + 0.25) * 32).astype(int).reshape(-1, 32):
        nibbles = bytes(int(row[i] + 16 * row[i + 16]) for i in range(16))
        content += struct.pack("<ee", 1 / 32, -0.25) + nibbles
    return 3, values.shape, content


def _side_by_side(values: np.ndarray, heads: int) -> np.ndarray:
    """The two rows that rotation turns together one after the other, head by head."""
    size = len(values) // heads
    order = [
        head * size + half * size // 2 + plane
        for head in range(heads)
        for plane in range(size // 2)
        for half in range(2)
    ]
    return values[order]


def _facts() -> dict[str, Any]:
    return {
        "general.architecture": "llama",
        "llama.block_count": LAYERS,
        "llama.context_length": 256,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": 64,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KEY_HEADS,
        "llama.rope.freq_base": 100.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": len(TOKENS),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": [3 if token in _SPECIAL else 1 for token in TOKENS],
        "tokenizer.ggml.merges": _MERGES,
        **{f"tokenizer.ggml.{role}_token_id": number for role, number in _ROLES.items()},
    }


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _fact(value: Any) -> bytes:
    match value:
        case list():
            parts = [_fact(item) for item in value]
            return (
                struct.pack("<I", 9)
                + parts[0][:4]
                + struct.pack("<Q", len(value))
                + b"".join(part[4:] for part in parts)
            )
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
    return struct.pack("<I", 8) + _text(value)
