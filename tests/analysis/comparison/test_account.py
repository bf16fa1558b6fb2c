"""Reasons why two files cannot be compared, and the sequences that they share."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.account import (
    KINDS,
    MASKED,
    Account,
    reasons,
    same_heads,
    same_tokenizer,
    shared_sequences,
    training_step,
)

FACTS = {
    "model": "some/model",
    "input": "text",
    "layer_order": "post_norm",
    "random_weights": "none",
    "n_layers": "6",
    "n_heads": "12",
    "corpus_sha256": "a",
    "mask_rate": "0.0",
    "seed": "0",
}
TOKENS = [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 3)]
VOCABULARY = {1: "[CLS]", 2: "cat", 3: "dog"}


def account_of(tokens=TOKENS, vocabulary=VOCABULARY, masked=(), **facts: str) -> Account:
    frame = pd.DataFrame(tokens, columns=["seq", "pos", "token_id"])
    is_masked = [place in masked for place in zip(frame["seq"], frame["pos"], strict=True)]
    ids = np.where(is_masked, MASKED, frame["token_id"])
    lengths = frame.groupby("seq").size().reset_index(name="n_tokens")
    words = pd.DataFrame({"token_id": vocabulary.keys(), "token": vocabulary.values()})
    return Account(FACTS | facts, lengths, ids, words)


ONE = account_of()
OTHERS = {
    "the same": (account_of(), {}),
    "masked": (
        account_of([*TOKENS[:3], (1, 1, 9)], masked={(1, 1)}, mask_rate="0.5"),
        {"training": ("masking",)},
    ),
    "another corpus": (
        account_of(corpus_sha256="b"),
        dict.fromkeys(("paired", "heads", "head_by_head", "training"), ("corpus",)),
    ),
    "another tokenizer": (
        account_of(vocabulary={1: "[CLS]", 2: "dog", 3: "cat"}),
        dict.fromkeys(KINDS[1:], ("tokenizer",)),
    ),
    "other sequences": (
        account_of([(0, 0, 3), (0, 1, 2), (1, 0, 1)]),
        dict.fromkeys(("paired", "heads", "head_by_head", "training"), ("sequences",)),
    ),
    "images": (account_of(input="images"), dict.fromkeys(KINDS, ("input",))),
    "fewer heads": (
        account_of(n_heads="8"),
        dict.fromkeys(("heads", "head_by_head", "training"), ("shape",)),
    ),
    "fewer layers": (
        account_of(n_layers="2"),
        dict.fromkeys(("heads", "head_by_head", "training"), ("shape",)) | {"pairs": ("depth",)},
    ),
    "attention in other layers": (
        account_of(without_attention="1 Mamba2Mixer"),
        dict.fromkeys(("heads", "head_by_head", "training"), ("shape",)) | {"pairs": ("depth",)},
    ),
    "pre-norm": (account_of(layer_order="pre_norm"), {"pairs": ("layer_order",)}),
    "untrained": (
        account_of(random_weights="1"),
        dict.fromkeys(("head_by_head", "training"), ("random_weights",)),
    ),
    "another step": (account_of(model="some/model@step100"), {}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_reason_stands_against_the_comparisons_it_forbids(name):
    other, expected = OTHERS[name]
    for kind in KINDS:
        assert reasons(ONE, other, kind) == expected.get(kind, ())
        assert reasons(other, ONE, kind) == expected.get(kind, ())


def test_shared_sequences_have_the_same_tokens_but_where_they_are_masked():
    masked, cut = OTHERS["masked"][0], account_of(TOKENS[:3])
    changed = account_of([*TOKENS[:3], (1, 1, 2)])
    assert list(shared_sequences(ONE, masked)) == [0, 1]
    assert list(shared_sequences(ONE, cut)) == list(shared_sequences(ONE, changed)) == [0]
    assert not len(shared_sequences(ONE, OTHERS["another corpus"][0]))


def test_a_tokenizer_is_told_by_the_entries_that_both_files_have():
    assert same_tokenizer(ONE, account_of(vocabulary={2: "cat", 7: "mat"}))
    assert not same_tokenizer(ONE, account_of(vocabulary={5: "cat"}))
    assert not same_tokenizer(ONE, account_of(vocabulary={9: "mat"}))


def test_heads_are_the_same_in_one_model_alone():
    assert same_heads(ONE, OTHERS["masked"][0])
    assert same_heads(ONE, OTHERS["another step"][0])
    assert not same_heads(ONE, OTHERS["untrained"][0])
    assert not same_heads(ONE, account_of(model="other/model"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b@step1000", ("a/b", 1000)),
        ("google/multiberts-seed_0-step_20k", ("google/multiberts-seed_0", 20000)),
        ("runs/x/checkpoint-500", ("runs/x", 500)),
        ("a/b@main", ("a/b", None)),
        ("stepwise-bert", ("stepwise-bert", None)),
    ],
)
def test_a_step_of_a_training_is_told_by_name_or_revision(name, expected):
    assert training_step(name) == expected
