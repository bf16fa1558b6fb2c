"""Word attention, word vectors and parsers of a small treebank, from the run to the file."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest
import torch
from duckdb import DuckDBPyConnection

from analysis.measures.probing import parsers as measure
from analysis.measures.probing.word_attention import WordAttention
from analysis.statistics.probing import parsers
from analysis.statistics.probing.parsers import (
    static_vectors,
    tree_sentences,
)
from precompute.corpora.sequence import Annotation
from precompute.corpora.word_files import read_word_vectors
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.run import Request, run
from tests.small_store import request as asked_for
from tests.tracing import layers_of

pytestmark = pytest.mark.slow  # parsers are trained; the inner loop has their measures


@pytest.fixture(scope="module")
def treebank(tmp_path_factory) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp("parsers")
    asked = asked_for(folder, annotated=True, statistics=["parser_accuracy"])
    with patch.multiple(measure, EPOCHS=1, RATE=0.05, STEPS=90):
        return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def store(treebank) -> Iterator[DuckDBPyConnection]:
    """The finished file, with the shards as a fit finds them."""
    asked, plan = treebank
    with duckdb.connect(str(asked.output), read_only=True) as opened:
        files = sorted(map(str, (plan.folder / "word_attention").rglob("*.parquet")))
        opened.execute(f"create temp view word_attention_shards as from read_parquet({files})")
        yield opened


@pytest.fixture(scope="module")
def texts(treebank) -> dict[int, list[tuple[Annotation, WordAttention]]]:
    """Words and their attention in each layer, text by text."""
    asked, plan = treebank
    model = load_model(asked.model, device="cpu")
    return {
        text.index: [layer.annotated[0][1:] for layer in layers_of(model, [text])]
        for text in plan.corpus
    }


def test_parsers_see_the_trees_and_the_attention_of_every_sentence(store, texts):
    known = tree_sentences(store, seed=0)
    counted = store.sql("select count(distinct (seq, sentence)) from word").fetchall()
    assert [(len(known),)] == counted
    assert list(dict.fromkeys(sentence.seq for sentence in known)) == sorted(texts)
    start, before = 0, -1
    for sentence in known:
        start, before = (0 if sentence.seq != before else start), sentence.seq
        layers, n_words = texts[sentence.seq], len(sentence.forms)
        span = slice(start, start + n_words)
        rows = store.execute("from word where seq = ? order by word", [sentence.seq]).df()[span]
        assert sentence.forms == layers[0][0].forms[span]
        governors = (rows["governor"] - start).fillna(n_words)
        assert sentence.governors.tolist() == governors.tolist()
        assert sentence.is_scored.tolist() == (rows["relation"] != "punct").tolist()
        every_head = {
            "attention": torch.cat([of.mean[:, span, span] for _, of in layers]),
            "cls": torch.cat([of.cls[:, span] for _, of in layers]),
            "sep": torch.cat([of.sep[:, span] for _, of in layers]),
        }
        for name, heads_first in every_head.items():
            given = np.moveaxis(heads_first.numpy(), 0, -1)
            np.testing.assert_allclose(getattr(sentence, name), given, rtol=1e-5, atol=1e-6)
        start += n_words


def test_attention_beyond_the_budget_is_left_out_as_whole_sequences(store, monkeypatch):
    every = tree_sentences(store, seed=0)
    monkeypatch.setattr(parsers, "BUDGET", sum(e.attention.size for e in every) // 2)
    few = tree_sentences(store, seed=0)
    assert 0 < sum(sentence.attention.size for sentence in few) <= parsers.BUDGET
    kept = {sentence.seq for sentence in few}
    assert len(few) == sum(sentence.seq in kept for sentence in every)
    assert kept != {sentence.seq for sentence in tree_sentences(store, seed=1)}


def test_vectors_of_a_file_take_the_place_of_the_models(store, tmp_path):
    known = tree_sentences(store, seed=0)
    own = static_vectors(store, None, known)
    assert (own.source, own.known_share) == ("input_embedding", 1.0)
    path = tmp_path / "glove.txt"
    path.write_text("the 1 0\ncat 0 1\n", encoding="utf-8")
    forms = {form for sentence in known for form in sentence.forms}
    given = static_vectors(store, read_word_vectors(path, forms), known)
    spoken = [form for sentence in known for form in sentence.forms]
    share = np.mean([form.lower() in ("the", "cat") for form in spoken])
    assert (given.source, given.known_share) == ("glove.txt", pytest.approx(share))
    assert given.by_form["dog"].tolist() == [0, 0, 1]
    assert given.by_form["The"].tolist() == given.by_form["the"].tolist()
    for static in (own, given):
        vectors = np.stack(list(static.by_form.values()))
        assert (vectors[:, -1] == 1).all()


def test_the_chain_is_scored_on_the_sentences_held_out(store):
    known = tree_sentences(store, seed=0)
    sequences = sorted({sentence.seq for sentence in known})
    rows: list[Any] = list(
        store.execute("from parser_accuracy_setting order by all").df().itertuples()
    )
    for row in [accuracy for accuracy in rows if accuracy.method == "right_branching"]:
        order = np.random.default_rng(row.seed).permutation(sequences)
        held_out = set(order[: max(1, round(0.2 * len(sequences)))].tolist())
        chosen = [sentence for sentence in known if sentence.seq in held_out]
        right = sum(
            sentence.is_scored[word] and governor == word + 1
            for sentence in chosen
            for word, governor in enumerate(sentence.governors)
        )
        n = sum(int(sentence.is_scored.sum()) for sentence in chosen)
        assert (row.n, row.uas) == (n, pytest.approx(right / n))
        assert row.n_test == len(chosen)


def test_true_trees_are_easier_to_learn_than_shuffled_ones(store):
    rows = store.execute("from parser_accuracy_setting order by all").df()
    mean = rows.groupby("method")["uas"].mean()
    # every sentence is in the treebank three times, so that most of what is held out was learnt
    assert mean["attention_words"] > mean["attention_words_shuffled"] + 0.1
    assert mean["distances_words"] > mean["right_branching"] + 0.1
