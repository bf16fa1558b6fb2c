"""A GGUF file becomes the model and the tokenizer that it was made from."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaForCausalLM

from precompute.models.bundled import CACHE, DEMO_DECODER
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


def test_it_is_a_model_like_any_other(converted):
    loaded = load_model(str(converted[1]), device="cpu")
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


def test_the_same_file_gives_the_same_bytes(converted, tmp_path):
    folder = converted[1]
    convert_gguf(folder.with_name("tiny.gguf"), tmp_path)
    written = sorted(folder.iterdir())
    assert [file.name for file in written] == sorted(file.name for file in tmp_path.iterdir())
    assert all(file.read_bytes() == (tmp_path / file.name).read_bytes() for file in written)


@pytest.mark.skipif(
    not (CACHE / DEMO_DECODER).is_dir(), reason="not installed: mixscope demo --decoder"
)
def test_the_demo_decoder_knows_a_capital():
    tokenizer = load_tokenizer(DEMO_DECODER)
    model = AutoModelForCausalLM.from_pretrained(CACHE / DEMO_DECODER)
    given = tokenizer("The capital of France is", return_tensors="pt")
    assert tokenizer.decode(model(**given).logits[0, -1].argmax()) == " Paris"
