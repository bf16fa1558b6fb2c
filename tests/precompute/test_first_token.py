"""The first token of a causal model is a type of its own, whatever the form of the corpus."""

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tokenizers.processors import TemplateProcessing

from precompute.corpora.index.corpus import indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import NO_WORD, Entry
from precompute.corpora.token_types import masked
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import Rerun
from precompute.run import Request, run
from precompute.store.cross_laws import CROSS_LAWS
from tests.precompute.corpora.tiny import BUILT, PLACE, encode, llama_like
from tests.precompute.models.changed_files import change_settings
from tests.tiny import ANNOTATED, save_tiny, tiny_model, tiny_sequences

FORMS = {
    "text": Entry(PLACE, ("The cat sat.",)),
    "one token": Entry(PLACE, (",",)),
    "pair": Entry(PLACE, ("The cat, the dog.", "The mat.")),
    "words": ANNOTATED[0],
}
OPENING = {"bert": "cls", "roberta": "cls", "gpt2": "first", "llama": "bos"}
"""Of each tokenizer the type of what a causal model reads first."""


def types_of(entry, family="gpt2", **how) -> tuple[str, ...]:
    return encode(entry, family, **how)[0].named_types


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", OPENING)
def test_the_first_token_is_told_apart_unless_it_is_special(family, form):
    bare = types_of(FORMS[form], family)
    types = types_of(FORMS[form], family, is_causal=True)
    assert "first" not in bare
    assert types == (OPENING[family], *bare[1:])


@pytest.mark.parametrize(
    ("family", "tokens", "types"),
    [
        ("gpt2", ["t", "Ġ,", "."], ("first", "comma_period", "comma_period")),
        ("gpt2", ["<|end|>", "t", "<|end|>"], ("first", "other", "other")),
        ("llama", ["<s>", "▁the", "<s>"], ("bos", "other", "bos")),
        ("llama", ["▁the", "<s>", "▁,"], ("first", "bos", "comma_period")),
        ("bert", ["the", "[SEP]"], ("first", "sep")),
        ("bert", ["[SEP]", "the"], ("sep", "other")),
        ("bert", ["[MASK]", "the"], ("other", "other")),
    ],
)
def test_tokens_that_are_used_as_they_are(family, tokens, types):
    assert types_of(Entry(PLACE, tokens=tuple(tokens)), family, is_causal=True) == types


def test_it_keeps_its_word_and_can_be_masked():
    sequence, plain = (
        encode(Entry(PLACE, ("the cat",)), "gpt2", is_causal=causal)[0] for causal in (True, False)
    )
    assert sequence.words.tolist() == plain.words.tolist()
    assert sequence.words[0] != NO_WORD
    of_bert, _ = encode(Entry(PLACE, tokens=("the", "cat")), "bert", is_causal=True)
    hidden = [masked(of_bert, BUILT["bert"], rate=0.5, seed=seed) for seed in range(9)]
    assert {(text.named_types, bool(text.masked[0])) for text in hidden} == {
        (("other", "other"), True),
        (("first", "other"), False),
    }


def test_a_corpus_of_a_causal_model_is_another_corpus(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The cat sat.\n\nThe dog.", encoding="utf-8")
    sizes: dict[str, Any] = {"positions": 128, "segment_types": 0}
    both = [
        indexed(read_corpus(str(text), BUILT["gpt2"], is_causal=causal, **sizes), tmp_path)
        for causal in (True, False)
    ]
    assert both[0].folder != both[1].folder
    assert both[0].content_sha256 != both[1].content_sha256
    kinds = [[sequence.named_types[0] for sequence in corpus] for corpus in both]
    assert kinds == [["first"] * 2, ["other"] * 2]


@pytest.mark.parametrize(
    ("family", "opening"), [("gpt2", "first"), ("llama", "bos"), ("bert", "cls"), ("t5", "cls")]
)
def test_what_a_reader_types_is_read_as_a_run_reads_it(family, opening):
    sequence, _ = Rerun(tiny_model(family)).typed("The dog.", max_tokens=36)
    assert sequence.named_types == tiny_sequences(family)[1].named_types
    assert sequence.named_types[0] == opening


def _without_bos(folder, **settings):
    """Tiny Llama whose tokenizer puts nothing before a text."""
    save_tiny("llama", folder)
    tokenizer = llama_like()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    tokenizer.save_pretrained(folder)
    change_settings(folder / "config.json", **settings)


MODELS = {
    "Llama without BOS": (_without_bos, "first"),
    "Llama with BOS": (lambda folder: save_tiny("llama", folder), "bos"),
    "Llama as an encoder": (lambda folder: _without_bos(folder, is_causal=False), "other"),
}


@pytest.fixture(scope="module", params=MODELS)
def first_run(request, tmp_path_factory) -> Iterator[tuple[str, Plan, duckdb.DuckDBPyConnection]]:
    """Type of the first token, and a run whose file may be changed."""
    folder = tmp_path_factory.mktemp("first")
    make, opening = MODELS[request.param]
    make(folder / "model")
    lines = [{"text": "the cat sat, the dog ran."}, {"text": "the dog"}]
    corpus = folder / "texts.jsonl"
    corpus.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    statistics = ["token_type_mixing", "head_pattern", "sink", "mixing_ratio", "rollout"]
    output, settings = folder / "tiny.duckdb", {"device": "cpu", "max_tokens": 36}
    asked = Request(str(folder / "model"), str(corpus), output, statistics, **settings)
    plan = run(asked, run_local)
    with duckdb.connect(str(asked.output)) as store:
        yield opening, plan, store


def names(store, column: str, table: str) -> set[str]:
    return {name for (name,) in store.sql(f"select distinct {column} from {table}").fetchall()}


def test_every_table_has_the_type_where_there_is_such_a_token(first_run):
    opening, plan, store = first_run
    assert names(store, "token_type", "token where pos = 0") == {opening}
    assert "first" not in names(store, "token_type", "token where pos > 0")
    for table in ("token_type_mixing", "mixing_ratio", "rollout"):
        there = names(store, "token_type", table)
        assert opening in there
        assert ("first" in there) == (opening == "first")
    assert "first" in names(store, "place", "sink"), "which is the place of every model"
    is_word = {text.words[0] != NO_WORD for text in plan.corpus}
    assert is_word == {opening in ("first", "other")}
    (law,) = (query for text, query in CROSS_LAWS.items() if "the first token of a causal" in text)
    assert store.execute(law).fetchall() == [(0,)]
    store.execute("begin")
    store.execute("update stored.token set token_type = 'first' where pos = 1")
    assert store.execute(law).fetchall() == [(2,)]
    store.execute("rollback")
