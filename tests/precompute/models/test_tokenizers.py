"""Tokenizers are whole and follow their tokenizer.json, or are refused."""

import fnmatch
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, normalizers
from transformers import PreTrainedTokenizerFast

from analysis.errors import UnfitModel
from precompute.models import load_tokenizer
from precompute.models.load_models import _HUB_FILES
from precompute.models.load_tokenizer import read_tokenizer
from tests.precompute.corpora.tiny import (
    BUILT,
    bert_like,
    digits_apart,
    gpt2_like,
    llama_like,
    rebuilt,
)
from tests.refusals import refused

COPY = "Copy the files of the tokenizer that the model was trained with into it."
OF_SENTENCEPIECE = b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02"
OF_TIKTOKEN = b"\n".join(b"%s %d" % (b64encode(bytes([n])), n) for n in range(256))


def bare(folder: Path, family: str) -> Path:
    """A folder with the configuration of a model and nothing else."""
    folder.mkdir(exist_ok=True)
    transformers.AutoConfig.for_model(family).save_pretrained(folder)
    return folder


def saved(folder: Path, family: str, tokenizer: PreTrainedTokenizerFast, **settings) -> Path:
    """A folder of a family with a tokenizer, and settings of its own in tokenizer_config.json."""
    tokenizer.save_pretrained(bare(folder, family))
    path = folder / "tokenizer_config.json"
    known = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({name: value for name, value in known.items() if value != ""}))
    return folder


def test_a_folder_without_a_vocabulary_is_refused_with_the_files_that_it_lacks(tmp_path):
    message = refused(UnfitModel, read_tokenizer, bare(tmp_path / "a", "bert"), "m")
    assert message.endswith(
        "special tokens alone: its folder holds no vocabulary that BertTokenizer reads "
        f"(tokenizer.json, vocab.txt). {COPY}"
    )
    folder = bare(tmp_path / "b", "gpt2")
    (folder / "vocab.json").write_text('{"a": 0, "b": 1, ".": 2}')
    assert refused(UnfitModel, read_tokenizer, folder, "m") == (
        "Model 'm' has no tokenizer that can be loaded: its folder holds no whole vocabulary, "
        "which is one of tokenizer.json, vocab.txt, vocab.json with merges.txt, tekken.json, "
        "spm.model, spiece.model, sentencepiece.bpe.model, sentencepiece.model, tokenizer.model, "
        f"tiktoken.model. {COPY}"
    )


def test_a_vocabulary_that_reads_no_text_is_refused(tmp_path):
    written = json.loads(gpt2_like().backend_tokenizer.to_str())
    written["model"] |= {"vocab": {"a": 0, "b": 1}, "merges": []}
    tokenizer = Tokenizer.from_str(json.dumps(written))
    folder = saved(tmp_path, "llama", PreTrainedTokenizerFast(tokenizer_object=tokenizer))
    assert "makes no token of '.'" in refused(UnfitModel, read_tokenizer, folder, "m")


@pytest.mark.parametrize(
    ("family", "file", "content", "packages"),
    [
        ("deberta-v2", "spm.model", OF_SENTENCEPIECE, "sentencepiece protobuf"),
        ("llama", "tokenizer.model", OF_TIKTOKEN, "tiktoken"),
    ],
)
def test_the_package_that_reads_a_vocabulary_is_named_unless_another_is_there(
    family, file, content, packages, tmp_path, monkeypatch
):
    (bare(tmp_path, family) / file).write_bytes(content)
    monkeypatch.setattr(load_tokenizer, "find_spec", lambda _: None)
    assert refused(UnfitModel, read_tokenizer, tmp_path, "m") == (
        f"The vocabulary of model 'm' is {file}, which the package {packages.split()[0]} reads, "
        f"and that is not installed: python -m pip install {packages}"
    )
    folder = saved(tmp_path, family, bert_like())
    assert read_tokenizer(folder, "m").tokenizer.tokenize("cat") == ["cat"]


def test_every_file_that_a_tokenizer_of_the_library_reads_is_fetched():
    """Of the families that are covered; a package that is missing keeps none from being listed."""
    named = {"tokenizer.model", "adapter_config.json", "tokenizer_config.json"}
    for kind in ("Bert", "DebertaV2", "T5", "GPT2", "XLMRoberta"):
        named |= set(getattr(transformers, f"{kind}Tokenizer").vocab_files_names.values())
    assert {"spm.model", "spiece.model", "sentencepiece.bpe.model", "merges.txt"} <= named
    for file in named:
        assert any(fnmatch.fnmatch(file, pattern) for pattern in _HUB_FILES), file


def _cased() -> PreTrainedTokenizerFast:
    return rebuilt(bert_like, normalizer=normalizers.BertNormalizer(lowercase=False))


READ: list[tuple[str, Callable[[], Any], dict[str, Any], str]] = [
    ("qwen2", llama_like, {"tokenizer_class": "LlamaTokenizerFast"}, "Qwen2Tokenizer"),
    ("qwen2", llama_like, {"tokenizer_class": ""}, "Qwen2Tokenizer"),
    ("llama", digits_apart, {"tokenizer_class": "GPT2Tokenizer"}, "GPT2Tokenizer"),
    ("bert", _cased, {"tokenizer_class": "BertTokenizer", "do_lower_case": True}, "BertTokenizer"),
    ("bert", bert_like, {"tokenizer_class": "BertTokenizer"}, ""),
    ("gpt2", gpt2_like, {"tokenizer_class": "GPT2Tokenizer"}, ""),
    ("llama", llama_like, {}, ""),
]  # fmt: skip
"""Tokenizers, and the class that makes them in another way than tokenizer.json has it, if any."""
TEXT = "The cat's mat, don't 123 sat\n\n é 東京。"


@pytest.mark.parametrize(("family", "build", "settings", "overruled"), READ)
def test_texts_are_read_as_the_file_says_whatever_the_library_makes_of_the_type(
    family, build, settings, overruled, tmp_path
):
    folder = saved(tmp_path, family, build(), **settings)
    found, library = read_tokenizer(folder, "m"), transformers.AutoTokenizer.from_pretrained(folder)
    assert found.overruled == overruled
    expected = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(TEXT)
    read, theirs = (tokenizer(TEXT).encodings[0] for tokenizer in (found.tokenizer, library))
    parts = expected.ids, expected.word_ids, expected.offsets
    assert (read.ids, read.word_ids, read.offsets) == parts
    assert ((theirs.ids, theirs.word_ids) != parts[:2]) == bool(overruled)
    if not overruled:
        named = settings.get("tokenizer_class", "TokenizersBackend")
        assert type(found.tokenizer).__name__ == named
    special = build().special_tokens_map
    assert found.tokenizer.special_tokens_map.items() >= special.items()


def test_special_tokens_that_only_the_class_names_are_kept_if_the_vocabulary_has_them(tmp_path):
    """Folders older than the entries in tokenizer_config.json are like this."""
    nameless = dict.fromkeys(BUILT["bert"].special_tokens_map, "")
    folder = saved(tmp_path / "a", "bert", _cased(), tokenizer_class="BertTokenizer", **nameless)
    found = read_tokenizer(folder, "m")
    assert found.overruled == "BertTokenizer"
    assert (found.tokenizer.cls_token, found.tokenizer.sep_token) == ("[CLS]", "[SEP]")
    folder = saved(tmp_path / "b", "qwen2", llama_like(), tokenizer_class="", unk_token="")
    tokenizer = read_tokenizer(folder, "m").tokenizer
    assert "<|endoftext|>" not in tokenizer.get_vocab()
    assert len(tokenizer) == len(llama_like())
