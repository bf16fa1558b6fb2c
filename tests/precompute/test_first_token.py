"""The first token of a causal model is a type of its own, whatever the form of the corpus."""

from typing import Any

import pytest

from precompute.corpora.index.corpus import indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import NO_WORD, Entry
from precompute.corpora.token_types import masked
from precompute.live.one_sequence import Rerun
from tests.precompute.corpora.tiny import BUILT, PLACE, encode
from tests.tiny import ANNOTATED, tiny_model, tiny_sequences

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
