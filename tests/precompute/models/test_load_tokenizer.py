"""Tokenizers that are whole and read texts as their file says, and those that are refused."""

import fnmatch
import json
from base64 import b64encode
from pathlib import Path

import duckdb
import pytest
import transformers
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from analysis.errors import UnfitModel
from precompute.jobs.runner import run_local
from precompute.models import load_tokenizer
from precompute.models.load_models import _HUB_FILES, load_model
from precompute.models.load_tokenizer import read_tokenizer
from precompute.run import run
from tests.precompute.corpora.tiny import BUILT, bert_like, gpt2_like, llama_like
from tests.refusals import refused
from tests.small_store import request
from tests.tiny import save_tiny

COPY = "Copy the files of the tokenizer that the model was trained with into it."
EMPTY = {
    "bert": "BertTokenizer reads (tokenizer.json, vocab.txt)",
    "electra": "BertTokenizer reads (tokenizer.json, vocab.txt)",
    "deberta-v2": "DebertaV2Tokenizer reads (spm.model, tokenizer.json)",
    "t5": "T5Tokenizer reads (spiece.model, tokenizer.json)",
    "mt5": "T5Tokenizer reads (spiece.model, tokenizer.json)",
    "gemma2": "GemmaTokenizer reads (tokenizer.json)",
    "gpt2": "GPT2Tokenizer reads (merges.txt, tokenizer.json, vocab.json)",
    "qwen3": "Qwen2Tokenizer reads (merges.txt, tokenizer.json, vocab.json)",
    "gpt_neox": "GPTNeoXTokenizer reads (merges.txt, tokenizer.json, vocab.json)",
    "roberta": "RobertaTokenizer reads (merges.txt, tokenizer.json, vocab.json)",
}
"""Of a family the class that the library makes without any file, and the files that it needs."""


def _bare(folder: Path, family: str) -> Path:
    """A folder with the configuration of a model and nothing else."""
    folder.mkdir(exist_ok=True)
    transformers.AutoConfig.for_model(family).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("family", EMPTY)
def test_a_folder_without_a_vocabulary_is_refused_with_the_files_that_it_lacks(family, tmp_path):
    message = refused(UnfitModel, read_tokenizer, _bare(tmp_path, family), "m")
    assert message.startswith("The tokenizer of model 'm' knows ")
    assert message.endswith(
        f"special tokens alone: its folder holds no vocabulary that {EMPTY[family]}. {COPY}"
    )


@pytest.mark.parametrize("family", ["llama", "modernbert", "mistral", "olmo2"])
def test_a_tokenizer_that_the_library_cannot_make_without_files_is_refused(family, tmp_path):
    assert refused(UnfitModel, read_tokenizer, _bare(tmp_path, family), "m") == (
        "Model 'm' has no tokenizer that can be loaded: its folder holds no whole vocabulary, "
        "which is one of tokenizer.json, vocab.txt, vocab.json with merges.txt, tekken.json, "
        "spm.model, spiece.model, sentencepiece.bpe.model, sentencepiece.model, tokenizer.model, "
        f"tiktoken.model. {COPY}"
    )


def test_one_file_of_two_is_no_vocabulary(tmp_path):
    (_bare(tmp_path, "gpt2") / "vocab.json").write_text('{"a": 0, "b": 1, ".": 2}')
    message = refused(UnfitModel, read_tokenizer, tmp_path, "m")
    assert "no whole vocabulary, which is one of" in message
    assert "vocab.json with merges.txt" in message


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def test_a_vocabulary_of_special_tokens_alone_is_none(tmp_path):
    (_bare(tmp_path, "bert") / "vocab.txt").write_text("\n".join(SPECIAL))
    message = refused(UnfitModel, read_tokenizer, tmp_path, "m")
    assert message.startswith("The tokenizer of model 'm' knows 5 special tokens alone")


def test_words_that_were_added_to_no_vocabulary_do_not_make_one(tmp_path):
    tokenizer = bert_like()
    written = json.loads(tokenizer.backend_tokenizer.to_str())
    written["model"]["vocab"] = {token: n for n, token in enumerate(SPECIAL)}
    alone = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(written)))
    alone.add_tokens(["cat", "."])
    alone.save_pretrained(_bare(tmp_path, "bert"))
    assert "special tokens alone" in refused(UnfitModel, read_tokenizer, tmp_path, "m")


def test_a_tokenizer_that_makes_nothing_of_a_full_stop_is_refused(tmp_path):
    tokenizer = gpt2_like()
    written = json.loads(tokenizer.backend_tokenizer.to_str())
    written["model"]["vocab"] = {"a": 0, "b": 1}
    written["model"]["merges"] = []
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(written))
    ).save_pretrained(_bare(tmp_path, "llama"))
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
    (_bare(tmp_path, family) / file).write_bytes(content)
    monkeypatch.setattr(load_tokenizer, "find_spec", lambda _: None)
    assert refused(UnfitModel, read_tokenizer, tmp_path, "m") == (
        f"The vocabulary of model 'm' is {file}, which the package {packages.split()[0]} reads, "
        f"and that is not installed: python -m pip install {packages}"
    )


def test_no_package_is_asked_for_beside_a_vocabulary_that_needs_none(tmp_path, monkeypatch):
    folder = _saved(tmp_path, "deberta-v2", bert_like())
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


def _saved(folder: Path, family: str, tokenizer: PreTrainedTokenizerFast, **settings) -> Path:
    """A folder of a family with a tokenizer, and settings of its own in tokenizer_config.json."""
    tokenizer.save_pretrained(_bare(folder, family))
    path = folder / "tokenizer_config.json"
    known = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({name: value for name, value in known.items() if value != ""}))
    return folder


def _cased() -> PreTrainedTokenizerFast:
    tokenizer = bert_like()
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    return tokenizer


def _digits_apart() -> PreTrainedTokenizerFast:
    tokenizer = gpt2_like()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    return tokenizer


def _unframed() -> PreTrainedTokenizerFast:
    tokenizer = bert_like()
    tokenizer.backend_tokenizer.post_processor = None
    return tokenizer


OTHERS = [
    ("qwen2", llama_like, {"tokenizer_class": "LlamaTokenizerFast"}, "Qwen2Tokenizer"),
    ("qwen2", llama_like, {"tokenizer_class": ""}, "Qwen2Tokenizer"),
    ("qwen3", gpt2_like, {"tokenizer_class": "Qwen2Tokenizer"}, "Qwen2Tokenizer"),
    ("llama", _digits_apart, {"tokenizer_class": "GPT2Tokenizer"}, "GPT2Tokenizer"),
    ("bert", _cased, {"tokenizer_class": ""}, "BertTokenizer"),
    ("bert", _cased, {"tokenizer_class": "BertTokenizer", "do_lower_case": True}, "BertTokenizer"),
    ("bert", _unframed, {"tokenizer_class": "BertTokenizer"}, "BertTokenizer"),
    ("gpt2", gpt2_like, {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True},
     "GPT2Tokenizer"),
]  # fmt: skip
"""Tokenizers that the library makes in another way than tokenizer.json has it."""
TEXT = "The cat's mat, don't 123 sat\n\n é 東京。"


@pytest.mark.parametrize(("family", "build", "settings", "overruled"), OTHERS)
def test_texts_are_read_as_the_file_says_whatever_the_library_makes_of_the_type(
    family, build, settings, overruled, tmp_path
):
    folder = _saved(tmp_path, family, build(), **settings)
    found = read_tokenizer(folder, "m")
    assert found.overruled == overruled
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    read, told = found.tokenizer(TEXT).encodings[0], file.encode(TEXT)
    assert (read.ids, read.word_ids, read.offsets) == (told.ids, told.word_ids, told.offsets)
    library = transformers.AutoTokenizer.from_pretrained(folder)(TEXT).encodings[0]
    assert (library.ids, library.word_ids) != (told.ids, told.word_ids), "this shows nothing"
    special = build().special_tokens_map
    assert found.tokenizer.special_tokens_map.items() >= special.items()


@pytest.mark.parametrize(
    ("family", "build", "settings"),
    [
        ("bert", bert_like, {"tokenizer_class": "BertTokenizer"}),
        ("bert", _cased, {"tokenizer_class": "BertTokenizer", "do_lower_case": False}),
        ("gpt2", gpt2_like, {"tokenizer_class": "GPT2Tokenizer"}),
        ("llama", llama_like, {}),
        ("qwen2", gpt2_like, {"tokenizer_class": "PreTrainedTokenizerFast"}),
    ],
)
def test_a_tokenizer_that_agrees_with_its_file_stays_what_it_is(family, build, settings, tmp_path):
    found = read_tokenizer(_saved(tmp_path, family, build(), **settings), "m")
    if found.overruled:  # the library takes no notice of the class in the file
        assert family == "qwen2"
    else:
        named = settings.get("tokenizer_class", "TokenizersBackend")
        assert type(found.tokenizer).__name__ == named


def test_special_tokens_that_only_the_class_names_are_kept(tmp_path):
    """As in folders that were made before tokenizer_config.json named them."""
    nameless = dict.fromkeys(BUILT["bert"].special_tokens_map, "")
    folder = _saved(tmp_path, "bert", _cased(), tokenizer_class="BertTokenizer", **nameless)
    found = read_tokenizer(folder, "m")
    assert found.overruled == "BertTokenizer"
    assert (found.tokenizer.cls_token, found.tokenizer.sep_token) == ("[CLS]", "[SEP]")


def test_special_tokens_of_a_class_whose_vocabulary_is_another_are_not(tmp_path):
    folder = _saved(tmp_path, "qwen2", llama_like(), tokenizer_class="", unk_token="")
    tokenizer = read_tokenizer(folder, "m").tokenizer
    assert "<|endoftext|>" not in tokenizer.get_vocab()
    assert len(tokenizer) == len(llama_like())


def test_a_run_says_that_the_file_was_taken(tmp_path, capsys):
    folder = save_tiny("qwen2", tmp_path / "model-qwen2")
    path = folder / "tokenizer_config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"tokenizer_class": "Qwen2Tokenizer"})
    )
    asked = request(tmp_path, "qwen2", statistics=["token_norm"])
    run(asked, run_local)
    assert (
        "Texts are read as tokenizer.json says, and otherwise than by Qwen2Tokenizer, which the "
        "library takes for this model."
    ) in capsys.readouterr().out.splitlines()
    with duckdb.connect(str(asked.output), read_only=True) as store:
        facts = store.execute("select value from provenance where name = 'tokenizer'").fetchall()
    assert facts == [("tokenizer.json, not Qwen2Tokenizer",)]


@pytest.mark.parametrize("name", ["demo", "demo-copy"])
def test_bundled_tokenizers_agree_with_their_files(name):
    assert load_model(name).overruled_tokenizer == ""
