"""Masked words stay in their trees, and are not scored."""

from collections.abc import Iterator
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.statistics.probing.parsers import static_vectors, tree_sentences
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.run import Request, run
from tests.small_store import request as asked_for

STATISTICS = ["dependency_accuracy", "dependency_baseline", "word_attention", "word_vector"]


@pytest.fixture(scope="module")
def masked_trees(tmp_path_factory) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp("masked-trees")
    asked = asked_for(folder, annotated=True, mask_rate=0.2, statistics=STATISTICS)
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def store(masked_trees) -> Iterator[DuckDBPyConnection]:
    """The finished file, with the shards of word attention as a fit finds them."""
    asked, plan = masked_trees
    with duckdb.connect(str(asked.output), read_only=True) as opened:
        files = sorted(map(str, (plan.folder / "word_attention").rglob("*.parquet")))
        opened.execute(
            f"create temp view word_attention_shards as select * from read_parquet({files})"
        )
        yield opened


@pytest.fixture(scope="module")
def every_word(store, masked_trees) -> pd.DataFrame:
    """All words of all trees; `is_scored` if neither the word nor its governor is masked."""
    parts = []
    for sequence in masked_trees[1].corpus:
        assert sequence.word_spans is not None
        hidden = [sequence.masked[start:end].any() for start, end in sequence.word_spans]
        rows = store.execute("from word where seq = ? order by word", [sequence.index]).df()
        assert rows["is_masked"].tolist() == hidden
        governed = [not pd.isna(g) and hidden[int(g)] for g in rows["governor"]]
        parts.append(rows.assign(is_scored=~np.array(hidden) & ~np.array(governed)))
    return pd.concat(parts, ignore_index=True)


def test_heads_and_offsets_are_scored_between_words_that_were_read(store, every_word):
    assert 0 < every_word["is_masked"].sum() < len(every_word) / 2
    is_subject = every_word["relation"].str.partition(":")[0] == "nsubj"
    chosen = every_word[is_subject & every_word["is_scored"]]
    of_subjects = "from {} where relation = 'nsubj' and "
    [baseline] = (
        store.execute(of_subjects.format("dependency_baseline") + '"offset" = 1')
        .df()
        .to_dict("records")
    )
    right = (chosen["governor"] - chosen["word"] == 1).sum()
    assert (baseline["n"], baseline["accuracy"]) == (len(chosen), right / len(chosen))
    head = "direction = 'dependent_to_head' and layer = 2 and head = 3"
    [row] = store.execute(of_subjects.format("dependency_accuracy") + head).df().to_dict("records")
    read = f"select seq, predicted from dependency_prediction where {head} and merging = 'mean'"
    of_head, every = dict(store.execute(read).fetchall()), cast("Any", chosen.itertuples())
    right = sum(of_head[word.seq][word.word] == word.governor for word in every)
    assert (row["n"], row["accuracy"]) == (len(chosen), pytest.approx(right / len(chosen)))


def test_parsers_neither_know_nor_score_a_masked_word(store, every_word):
    of_sentence = dict(iter(every_word.groupby(["seq", "sentence"])))
    known = tree_sentences(store, seed=0)
    vectors = static_vectors(store, None, known)
    place: dict[int, int] = {}
    for sentence in known:
        rows = of_sentence[sentence.seq, place.setdefault(sentence.seq, 0)]
        place[sentence.seq] += 1
        read = rows["form"].where(~rows["is_masked"], "")
        assert list(sentence.forms) == read.tolist()
        scored = rows["is_scored"] & (rows["relation"] != "punct")
        assert sentence.is_scored.tolist() == scored.tolist()
    assert not vectors.by_form[""][:-1].any(), "a word that was not read has no vector"
    assert vectors.known_share == pytest.approx(1 - every_word["is_masked"].mean())


def test_mentions_say_whether_they_were_read(store, every_word):
    hidden = every_word.set_index(["seq", "word"])["is_masked"]
    mentions = store.execute("select seq, first_word, last_word, is_masked from mention").fetchall()
    assert {is_masked for *_, is_masked in mentions} == {True, False}
    for seq, first, last, is_masked in mentions:
        assert is_masked == any(bool(hidden[seq, word]) for word in range(first, last + 1))
