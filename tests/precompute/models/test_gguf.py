"""A GGUF file becomes the model and the tokenizer that it was made from."""

from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from precompute.models.gguf import convert_gguf
from precompute.models.load_models import load_model, load_tokenizer
from tests.precompute.models.tiny_gguf import write_gguf


@pytest.fixture(scope="module")
def converted(tmp_path_factory) -> tuple[LlamaForCausalLM, Path]:
    place = tmp_path_factory.mktemp("gguf")
    model = write_gguf(place / "tiny.gguf")
    convert_gguf(place / "tiny.gguf", place / "model")
    return model, place / "model"


def test_its_weights_are_those_that_were_stored(converted):
    model, folder = converted
    found = LlamaForCausalLM.from_pretrained(folder)
    assert found.dtype == torch.float32
    expected = model.state_dict()
    assert found.state_dict().keys() == expected.keys()
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, expected[name], rtol=0, atol=0, msg=name)
    ids = torch.arange(20)[None]
    torch.testing.assert_close(found(ids).logits, model(ids).logits)
    assert found.config.rms_norm_eps == 1e-5
    loaded = load_model(str(folder), device="cpu")
    assert (loaded.family, loaded.objective) == ("llama", "next_token")
    assert loaded.overruled_tokenizer == ""


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("cat cat", ["cat", "Ġcat"]),
        ("cat  5", ["cat", "ĠĠ", "5"]),  # both spaces before a digit are one piece
        ("c55", ["c", "5", "5"]),
        ("<|im_start|>cat<|im_end|>", ["<|im_start|>", "cat", "<|im_end|>"]),
        ("cat<file_sep>cat", ["cat", "<file_sep>", "cat"]),
    ],
)
def test_its_tokenizer_parts_digits_knows_special_tokens_and_adds_none(converted, text, tokens):
    tokenizer = load_tokenizer(str(converted[1]))
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == tokens
    assert tokenizer.decode(ids) == text
    roles = (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token, tokenizer.pad_token)
    assert roles == ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_end|>")
