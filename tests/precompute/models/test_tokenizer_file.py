"""Tokenizers follow their tokenizer.json, whatever class the library chooses."""

import duckdb
import pytest
import transformers
from tokenizers import Tokenizer, normalizers
from transformers import PreTrainedTokenizerFast

from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.models.load_tokenizer import read_tokenizer
from precompute.run import run
from tests.precompute.corpora.tiny import BUILT, bert_like, digits_apart, gpt2_like, llama_like
from tests.precompute.models.changed_files import change_settings
from tests.precompute.models.test_load_tokenizer import saved
from tests.small_store import request
from tests.tiny import save_tiny


def _cased() -> PreTrainedTokenizerFast:
    tokenizer = bert_like()
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    return tokenizer


def _unframed() -> PreTrainedTokenizerFast:
    tokenizer = bert_like()
    tokenizer.backend_tokenizer.post_processor = None
    return tokenizer


OTHERS = [
    ("qwen2", llama_like, {"tokenizer_class": "LlamaTokenizerFast"}, "Qwen2Tokenizer"),
    ("qwen2", llama_like, {"tokenizer_class": ""}, "Qwen2Tokenizer"),
    ("qwen3", gpt2_like, {"tokenizer_class": "Qwen2Tokenizer"}, "Qwen2Tokenizer"),
    ("llama", digits_apart, {"tokenizer_class": "GPT2Tokenizer"}, "GPT2Tokenizer"),
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
    folder = saved(tmp_path, family, build(), **settings)
    found = read_tokenizer(folder, "m")
    assert found.overruled == overruled
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    read, expected = found.tokenizer(TEXT).encodings[0], file.encode(TEXT)
    assert (read.ids, read.word_ids, read.offsets) == (
        expected.ids,
        expected.word_ids,
        expected.offsets,
    )
    library = transformers.AutoTokenizer.from_pretrained(folder)(TEXT).encodings[0]
    assert (library.ids, library.word_ids) != (expected.ids, expected.word_ids), (
        "this shows nothing"
    )
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
    found = read_tokenizer(saved(tmp_path, family, build(), **settings), "m")
    if found.overruled:  # the library takes no notice of the class in the file
        assert family == "qwen2"
    else:
        named = settings.get("tokenizer_class", "TokenizersBackend")
        assert type(found.tokenizer).__name__ == named


def test_special_tokens_that_only_the_class_names_are_kept(tmp_path):
    """Folders older than the entries in tokenizer_config.json are like this."""
    nameless = dict.fromkeys(BUILT["bert"].special_tokens_map, "")
    folder = saved(tmp_path, "bert", _cased(), tokenizer_class="BertTokenizer", **nameless)
    found = read_tokenizer(folder, "m")
    assert found.overruled == "BertTokenizer"
    assert (found.tokenizer.cls_token, found.tokenizer.sep_token) == ("[CLS]", "[SEP]")


def test_special_tokens_of_a_class_whose_vocabulary_is_another_are_not(tmp_path):
    folder = saved(tmp_path, "qwen2", llama_like(), tokenizer_class="", unk_token="")
    tokenizer = read_tokenizer(folder, "m").tokenizer
    assert "<|endoftext|>" not in tokenizer.get_vocab()
    assert len(tokenizer) == len(llama_like())


def test_a_run_says_that_the_file_was_taken(tmp_path, capsys):
    folder = save_tiny("qwen2", tmp_path / "model-qwen2")
    change_settings(folder / "tokenizer_config.json", tokenizer_class="Qwen2Tokenizer")
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
