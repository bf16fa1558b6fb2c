"""Complete tokenizers that agree with their file, and refused ones."""

import fnmatch
import json
from base64 import b64encode
from pathlib import Path

import pytest
import transformers
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from analysis.errors import UnfitModel
from precompute.models import load_tokenizer
from precompute.models.load_models import _HUB_FILES
from precompute.models.load_tokenizer import read_tokenizer
from tests.precompute.corpora.tiny import bert_like, gpt2_like
from tests.refusals import refused

COPY = "Copy the files of the tokenizer that the model was trained with into it."
EMPTY = {
    "bert": "BertTokenizer reads (tokenizer.json, vocab.txt)",
    "deberta-v2": "DebertaV2Tokenizer reads (spm.model, tokenizer.json)",
    "t5": "T5Tokenizer reads (spiece.model, tokenizer.json)",
    "gemma2": "GemmaTokenizer reads (tokenizer.json)",
    "gpt2": "GPT2Tokenizer reads (merges.txt, tokenizer.json, vocab.json)",
    "gpt_neox": "GPTNeoXTokenizer reads (merges.txt, tokenizer.json, vocab.json)",
    "roberta": "RobertaTokenizer reads (merges.txt, tokenizer.json, vocab.json)",
}
"""Of a family the class that the library makes without any file, and the files that it needs."""


def bare(folder: Path, family: str) -> Path:
    """A folder with the configuration of a model and nothing else."""
    folder.mkdir(exist_ok=True)
    transformers.AutoConfig.for_model(family).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("family", EMPTY)
def test_a_folder_without_a_vocabulary_is_refused_with_the_files_that_it_lacks(family, tmp_path):
    message = refused(UnfitModel, read_tokenizer, bare(tmp_path, family), "m")
    assert message.startswith("The tokenizer of model 'm' knows ")
    assert message.endswith(
        f"special tokens alone: its folder holds no vocabulary that {EMPTY[family]}. {COPY}"
    )


@pytest.mark.parametrize("family", ["llama", "modernbert"])
def test_a_tokenizer_that_the_library_cannot_make_without_files_is_refused(family, tmp_path):
    assert refused(UnfitModel, read_tokenizer, bare(tmp_path, family), "m") == (
        "Model 'm' has no tokenizer that can be loaded: its folder holds no whole vocabulary, "
        "which is one of tokenizer.json, vocab.txt, vocab.json with merges.txt, tekken.json, "
        "spm.model, spiece.model, sentencepiece.bpe.model, sentencepiece.model, tokenizer.model, "
        f"tiktoken.model. {COPY}"
    )


def test_one_file_of_two_is_no_vocabulary(tmp_path):
    (bare(tmp_path, "gpt2") / "vocab.json").write_text('{"a": 0, "b": 1, ".": 2}')
    message = refused(UnfitModel, read_tokenizer, tmp_path, "m")
    assert "no whole vocabulary, which is one of" in message
    assert "vocab.json with merges.txt" in message


def saved(folder: Path, family: str, tokenizer: PreTrainedTokenizerFast, **settings) -> Path:
    """A folder of a family with a tokenizer, and settings of its own in tokenizer_config.json."""
    tokenizer.save_pretrained(bare(folder, family))
    path = folder / "tokenizer_config.json"
    known = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({name: value for name, value in known.items() if value != ""}))
    return folder


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def test_a_vocabulary_of_special_tokens_alone_is_none(tmp_path):
    (bare(tmp_path, "bert") / "vocab.txt").write_text("\n".join(SPECIAL))
    message = refused(UnfitModel, read_tokenizer, tmp_path, "m")
    assert message.startswith("The tokenizer of model 'm' knows 5 special tokens alone")


def test_words_that_were_added_to_no_vocabulary_do_not_make_one(tmp_path):
    tokenizer = bert_like()
    written = json.loads(tokenizer.backend_tokenizer.to_str())
    written["model"]["vocab"] = {token: n for n, token in enumerate(SPECIAL)}
    alone = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(written)))
    alone.add_tokens(["cat", "."])
    alone.save_pretrained(bare(tmp_path, "bert"))
    assert "special tokens alone" in refused(UnfitModel, read_tokenizer, tmp_path, "m")


def test_a_tokenizer_that_makes_nothing_of_a_full_stop_is_refused(tmp_path):
    tokenizer = gpt2_like()
    written = json.loads(tokenizer.backend_tokenizer.to_str())
    written["model"]["vocab"] = {"a": 0, "b": 1}
    written["model"]["merges"] = []
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(written))
    ).save_pretrained(bare(tmp_path, "llama"))
    assert "makes no token of '.'" in refused(UnfitModel, read_tokenizer, tmp_path, "m")


OF_SENTENCEPIECE = b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02"
OF_TIKTOKEN = b"\n".join(b"%s %d" % (b64encode(bytes([n])), n) for n in range(256))


@pytest.mark.parametrize(
    ("family", "file", "content", "packages"),
    [
        ("deberta-v2", "spm.model", OF_SENTENCEPIECE, "sentencepiece protobuf"),
        ("mt5", "spiece.model", OF_SENTENCEPIECE, "sentencepiece protobuf"),
        ("roberta", "sentencepiece.bpe.model", OF_SENTENCEPIECE, "sentencepiece protobuf"),
        ("llama", "tokenizer.model", OF_SENTENCEPIECE, "sentencepiece protobuf"),
        ("llama", "tokenizer.model", OF_TIKTOKEN, "tiktoken"),
    ],
)
def test_the_package_that_reads_a_vocabulary_is_named(
    family, file, content, packages, tmp_path, monkeypatch
):
    (bare(tmp_path, family) / file).write_bytes(content)
    monkeypatch.setattr(load_tokenizer, "find_spec", lambda _: None)
    assert refused(UnfitModel, read_tokenizer, tmp_path, "m") == (
        f"The vocabulary of model 'm' is {file}, which the package {packages.split()[0]} reads, "
        f"and that is not installed: python -m pip install {packages}"
    )


def test_no_package_is_asked_for_beside_a_vocabulary_that_needs_none(tmp_path, monkeypatch):
    folder = saved(tmp_path, "deberta-v2", bert_like())
    (folder / "spm.model").write_bytes(OF_SENTENCEPIECE)
    monkeypatch.setattr(load_tokenizer, "find_spec", lambda _: None)
    assert read_tokenizer(folder, "m").tokenizer.tokenize("cat") == ["cat"]


def test_every_file_that_a_tokenizer_of_the_library_reads_is_fetched():
    """Of the families that are covered; a package that is missing keeps none from being listed."""
    named = set()
    for kind in ("Bert", "DebertaV2", "T5", "GPT2", "Roberta", "XLMRoberta", "Camembert", "Gemma"):
        named |= set(getattr(transformers, f"{kind}Tokenizer").vocab_files_names.values())
    assert {"spm.model", "spiece.model", "sentencepiece.bpe.model", "merges.txt"} <= named
    for file in (*named, "tokenizer.model", "adapter_config.json", "tokenizer_config.json"):
        assert any(fnmatch.fnmatch(file, pattern) for pattern in _HUB_FILES), file
