"""clark-2019, section 5: scores pair by pair; planted trees; parsers of a small treebank."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from unittest.mock import patch

import duckdb
import numpy as np
import pytest
import torch
from duckdb import DuckDBPyConnection

from analysis.measures.probing import parsers as measure
from analysis.measures.probing.parsers import (
    ParserSentence,
    attention_scores,
    attention_words_scores,
    fresh_attention,
    fresh_attention_words,
    right_words,
    shuffled,
    train,
)
from analysis.statistics.probing import parsers
from analysis.statistics.probing.parsers import static_vectors, tree_sentences
from precompute.corpora.word_files import read_word_vectors
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.small_store import request as asked_for


def planted_sentence(draw: np.random.Generator, *, fits: int = 1) -> ParserSentence:
    """A random tree: head 0 looks up, head 1 down, and the root looks at [CLS] in head 2."""
    n_words = int(draw.integers(4, 10))
    order = draw.permutation(n_words)
    governors = np.full(n_words, n_words)
    for place in range(1, n_words):
        governors[order[place]] = order[draw.integers(0, place)]
    attention = torch.from_numpy(draw.dirichlet(np.ones(n_words), (n_words, 4)))
    attention = 0.3 * attention.movedim(2, 1).float()
    cls = torch.from_numpy(draw.uniform(0, 0.1, (n_words, 4))).float()
    for word, governor in enumerate(governors):
        if governor == n_words:
            cls[word, 2] += 0.6
        else:
            attention[word, governor, 0] += 0.6
            attention[governor, word, 1] += 0.6
    return ParserSentence(
        attention=attention.contiguous(),
        cls=cls,
        sep=torch.zeros(n_words, 4),
        vectors=torch.ones(n_words, 1),
        governors=torch.from_numpy(np.stack([governors] * fits, axis=1)),
        is_scored=torch.ones(n_words, dtype=torch.bool),
    )


def test_scores_of_words_are_sums_over_heads_of_weights_that_are_linear_in_their_vectors():
    sentence = planted_sentence(np.random.default_rng(0))
    n, draw = len(sentence.is_scored), torch.Generator().manual_seed(0)
    vectors, attention = torch.randn(n, 5, generator=draw), sentence.attention
    sentence = replace(sentence, vectors=vectors, sep=torch.rand(n, 4, generator=draw))
    of = {
        name: torch.randn(value.shape, generator=draw)
        for name, value in fresh_attention_words(sentence, 2).items()
    }
    scores = attention_words_scores(of, sentence)
    assert scores.shape == (n, n + 1, 2)
    for fit, i in product(range(2), range(n)):
        part = {name: value[..., fit] for name, value in of.items()}
        for j in range(n):
            sides = (("dependent", attention[i, j]), ("governor", attention[j, i]))
            expected = sum(
                vectors[word] @ part[f"{side}_by_{whose}"] @ weights
                for side, weights in sides
                for whose, word in (("dependent", i), ("governor", j))
            )
            assert scores[i, j, fit].item() == pytest.approx(float(expected), rel=1e-3, abs=1e-5)
        special = part["cls"] @ sentence.cls[i] + part["sep"] @ sentence.sep[i] + part["root"]
        root = float(vectors[i] @ special)
        assert scores[i, n, fit].item() == pytest.approx(root, rel=1e-3, abs=1e-5)


def _held_out(sentences, learns) -> float:
    learnt = train(
        attention_scores, fresh_attention(sentences[0], 1), sentences, learns=learns, seed=0
    )
    held_out = [sentence for sentence, (seen,) in zip(sentences, learns, strict=True) if not seen]
    right = sum(int(right_words(attention_scores, learnt, sentence)) for sentence in held_out)
    return right / sum(len(sentence.is_scored) for sentence in held_out)


def test_trees_in_a_head_are_learnt_and_dealt_out_governors_teach_nothing():
    draw = np.random.default_rng(0)
    sentences = [planted_sentence(draw) for _ in range(40)]
    learns = (np.arange(40) < 30)[:, None]
    assert _held_out(sentences, learns) > 0.99
    for place, sentence in enumerate(sentences):
        dealt = shuffled(sentence.governors[:, 0].numpy(), seed=0, sentence=place)
        sentence.governors[:, 0] = torch.from_numpy(dealt)
    assert _held_out(sentences, learns) < 0.4


def test_a_parser_sees_only_what_it_may_learn_from():
    draw = np.random.default_rng(1)
    sentences = [planted_sentence(draw, fits=2) for _ in range(6)]
    learns = np.ones((6, 2), dtype=bool)
    learns[2:4, 1] = False
    start = fresh_attention(sentences[0], 2)
    first = train(attention_scores, start, sentences, learns=learns, seed=0)
    for hidden in (2, 3):
        n_words = len(sentences[hidden].is_scored)
        sentences[hidden].governors[:, 1] = torch.arange(n_words).flip(0)
    second = train(attention_scores, start, sentences, learns=learns, seed=0)
    assert all(torch.equal(first[name], second[name]) for name in start)


trained = pytest.mark.slow
"""Marks tests for which parsers are trained; the inner loop has their measures."""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[DuckDBPyConnection]:
    """The finished file, with the shards as a fit finds them."""
    folder = tmp_path_factory.mktemp("parsers")
    asked = asked_for(folder, annotated=True, statistics=["parser_accuracy"])
    with patch.multiple(measure, EPOCHS=1, RATE=0.05, STEPS=90):
        plan = run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as opened:
        files = sorted(map(str, (plan.folder / "word_attention").rglob("*.parquet")))
        opened.execute(f"create temp view word_attention_shards as from read_parquet({files})")
        yield opened


@trained
def test_parsers_see_the_trees_and_the_attention_of_every_sentence(store):
    known = tree_sentences(store, seed=0)
    counted = store.sql("select count(distinct (seq, sentence)) from word").fetchall()
    assert [(len(known),)] == counted
    start, before = 0, -1
    for sentence in known:
        start, before = (0 if sentence.seq != before else start), sentence.seq
        n_words = len(sentence.forms)
        every = store.execute("from word where seq = ? order by word", [sentence.seq]).df()
        rows = every[start : start + n_words]
        assert [*sentence.forms] == rows["form"].tolist()
        governors = (rows["governor"] - start).fillna(n_words)
        assert sentence.governors.tolist() == governors.tolist()
        assert sentence.is_scored.tolist() == (rows["relation"] != "punct").tolist()
        heads = store.execute(
            "select attention, cls, sep from word_attention_shards "
            "where seq = ? and first_word = ? order by layer, head",
            [sentence.seq, start],
        ).df()
        for name, of_heads in heads.items():
            given = np.array(of_heads.tolist()).T.reshape(getattr(sentence, name).shape)
            np.testing.assert_allclose(getattr(sentence, name), given, rtol=1e-6)
        start += n_words


@trained
def test_attention_beyond_the_budget_is_left_out_as_whole_sequences(store, monkeypatch):
    every = tree_sentences(store, seed=0)
    monkeypatch.setattr(parsers, "BUDGET", sum(e.attention.size for e in every) // 2)
    few = tree_sentences(store, seed=0)
    assert 0 < sum(sentence.attention.size for sentence in few) <= parsers.BUDGET
    kept = {sentence.seq for sentence in few}
    assert len(few) == sum(sentence.seq in kept for sentence in every)
    assert kept != {sentence.seq for sentence in tree_sentences(store, seed=1)}


@trained
def test_vectors_of_a_file_take_the_place_of_the_models(store, tmp_path):
    known = tree_sentences(store, seed=0)
    own = static_vectors(store, None, known)
    assert (own.source, own.known_share) == ("input_embedding", 1.0)
    path = tmp_path / "glove.txt"
    path.write_text("the 1 0\ncat 0 1\n", encoding="utf-8")
    spoken = [form for sentence in known for form in sentence.forms]
    given = static_vectors(store, read_word_vectors(path, set(spoken)), known)
    share = np.mean([form.lower() in ("the", "cat") for form in spoken])
    assert (given.source, given.known_share) == ("glove.txt", pytest.approx(share))
    assert given.by_form["dog"].tolist() == [0, 0, 1]
    assert given.by_form["The"].tolist() == given.by_form["the"].tolist()


@trained
def test_the_chain_is_scored_on_the_sentences_held_out(store):
    known = tree_sentences(store, seed=0)
    sequences = sorted({sentence.seq for sentence in known})
    rows = store.execute("from parser_accuracy_setting where method = 'right_branching'").df()
    for row in rows.itertuples():
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


@trained
def test_true_trees_are_easier_to_learn_than_shuffled_ones(store):
    rows = store.execute("from parser_accuracy_setting order by all").df()
    mean = rows.groupby("method")["uas"].mean()
    # every sentence is in the treebank three times, so that most of what is held out was learnt
    assert mean["attention_words"] > mean["attention_words_shuffled"] + 0.1
    assert mean["distances_words"] > mean["right_branching"] + 0.1
