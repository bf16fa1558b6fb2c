"""Accuracies of single heads as parsers and finders of antecedents, one word after the other."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.probing.antecedents import NONE, agreement, sieve
from analysis.measures.probing.governors import (
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from analysis.measures.probing.probe_accuracy import accuracy_interval, halves
from analysis.measures.probing.word_attention import attended_antecedents, predicted_governors
from analysis.statistics.base.weighing import WEIGHINGS, WEIGHT
from analysis.statistics.probing.accuracy import (
    BASELINES,
    DEPENDENCY_ACCURACY,
    DEPENDENCY_BASELINE,
    DIRECTIONS,
)
from analysis.statistics.probing.parsers import WORD_ATTENTION, WORD_VECTOR
from analysis.token_types import CLS, SEP
from pages.syntax.page import SENTENCES_OF_RELATION
from precompute.corpora.sequence import Annotation, Mention
from precompute.passes.probing import mentions_of
from tests.intervals import assert_ordered
from tests.statistics.fits import made, store_of
from tests.tiny import HEADS, LAYERS
from tests.tracing import layers_of, rows_of_table


def test_intervals_follow_their_definition_and_leave_empty_draws_out():
    draw = np.random.default_rng(1)
    n = draw.integers(0, 3, 17)
    right = np.stack([draw.integers(0, n + 1) for _ in range(4)], axis=1).astype(float)
    draws = redraws(np.arange(17), seed=3).weights.copy()
    draws[:5] = 0
    low, high = accuracy_interval(right, n, Redraws(np.arange(17), draws))
    n_cases = draws @ n
    for cell in range(4):  # efron-1979, section 2
        shares = (draws @ right[:, cell])[n_cases > 0] / n_cases[n_cases > 0]
        expected = tuple(np.percentile(shares, [2.5, 97.5]))
        assert (low[cell], high[cell]) == pytest.approx(expected)


def test_a_possessor_is_judged_by_the_ending_that_follows_it_in_its_sentence():
    relations, forms = ["poss", "case", "poss", "nsubj", "poss"], ["Zed", "'s", "my", "dog", "cats"]
    sentences = np.array([0, 0, 0, 0, 0])
    assert deciding_words(relations, forms, sentences).tolist() == [1, 1, 2, 3, 4]
    assert deciding_words(relations, forms, np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    predicted, governors = np.array([[1, 3, 3, -1, 3]]), np.array([3, 0, 3, -1, 4])
    of_both = (deciding_words(relations, forms, of) for of in (sentences, np.arange(5)))
    right = [is_right(predicted, governors, deciding)[0].tolist() for deciding in of_both]
    assert right == [[True, False, True, False, False], [False, False, True, False, False]]


def test_an_offset_ends_with_its_sentence():
    found = {k: by_offset(np.array([0, 0, 0, 1, 1]), np.arange(5), k).tolist() for k in (2, 1, -1)}
    assert found == {2: [2, -1, -1, -1, -1], 1: [1, 2, -1, 4, -1], -1: [-1, 0, 1, -1, 3]}


def test_a_relation_has_its_subtypes_and_none_is_taken_for_all_or_for_the_root():
    members = words_by_relation(["root", "punct", "all", "nsubj:outer", "root:x", "all_words"])
    assert {name: np.flatnonzero(of).tolist() for name, of in members.items()} == {
        "all": [2, 3, 5],
        "all_words": [0, 1, 2, 3, 4, 5],
        "nsubj": [3],
        "nsubj:outer": [3],
    }


PLACE, WAY = ["direction", "layer", "head"], ["weighing", "merging", "relation"]
SCORED_ON = {"all": "all", "first": "second", "second": "first"}
"""The part that the best is scored on, by the part that it is chosen on."""


@pytest.fixture(scope="module")
def accuracies(probing_store) -> dict[str, tuple[Any, pd.DataFrame, pd.DataFrame]]:
    """Sequences, and accuracies of heads and of offsets on them, by part of the sequences."""
    seqs = probing_store.sql("select distinct seq from word order by seq").df()["seq"].to_numpy()
    first, found = halves(len(seqs), seed=0), {}
    assert first.sum() == (len(seqs) + 1) // 2
    for name, chosen in {"all": seqs, "first": seqs[first], "second": seqs[~first]}.items():
        query, given = "from {} where list_contains($chosen, seq)", {"chosen": chosen}
        tables = {
            table: probing_store.sql(query.format(table), params=given).to_arrow_table()
            for table in ("word", "dependency_prediction", "dependency_prediction_weighing")
        }
        with store_of(**tables) as store:
            heads = made(DEPENDENCY_ACCURACY, store).astype(dict.fromkeys([*WAY, *PLACE[:1]], str))
            offsets = made(DEPENDENCY_BASELINE, store).set_index(["relation", "offset"])
        found[name] = chosen, heads.set_index([*WAY, *PLACE]).sort_index(), offsets
    return found


@pytest.mark.parametrize("chosen_on", SCORED_ON)
def test_the_best_is_chosen_on_one_half_and_scored_on_the_other(
    probing_store, accuracies, chosen_on
):
    _, of_heads, of_offsets = accuracies[chosen_on]
    _, scored_heads, scored_offsets = accuracies[SCORED_ON[chosen_on]]
    rows = probing_store.execute(
        "from dependency_best_weighing where chosen_on = ?", [chosen_on]
    ).df()
    assert {"all", "nsubj", "det"} <= set(rows["relation"])
    for row in rows.itertuples():
        way = (row.weighing, row.merging, row.relation)
        heads, offsets = of_heads.loc[way], of_offsets.loc[row.relation]
        best, near = heads["accuracy"].idxmax(), offsets["accuracy"].idxmax()
        assert (row.direction, row.layer, row.head, row.offset) == (*best, near)
        assert row.n_tried == len(heads) == len(DIRECTIONS) * LAYERS * HEADS
        known = heads.loc[best]
        assert (row.n_chosen, row.accuracy_chosen) == (known["n"], pytest.approx(known["accuracy"]))
        known = scored_heads.loc[(*way, *best)]
        assert (row.n, row.accuracy) == (known["n"], pytest.approx(known["accuracy"]))
        of_offset = scored_offsets.loc[(row.relation, near), "accuracy"]
        assert row.offset_accuracy == pytest.approx(of_offset)
        assert_ordered(row.difference_low, row.difference, row.difference_high)


@pytest.mark.parametrize("chosen_on", SCORED_ON)
def test_the_best_by_norms_is_compared_with_the_best_by_weights_on_the_same_words(
    probing_store, accuracies, chosen_on
):
    _, scored, _ = accuracies[SCORED_ON[chosen_on]]
    choice = "where merging = 'mean' and chosen_on = ? order by relation"
    rows = probing_store.execute(f"from dependency_difference {choice}", [chosen_on]).df()
    best = probing_store.execute(f"from dependency_best_weighing {choice}", [chosen_on]).df()
    best = best.set_index(["weighing", "relation"])
    assert len(rows)
    for row in rows.to_dict("records"):
        for name in WEIGHINGS:
            cell = [row[f"{of}_{name}"] for of in PLACE]
            assert best.loc[(name, row["relation"]), PLACE].tolist() == cell
            known = scored.loc[(name, "mean", row["relation"], *cell)]
            assert row[f"accuracy_{name}"] == pytest.approx(known["accuracy"])
            assert row["n"] == known["n"]
        assert row["difference"] == pytest.approx(row["accuracy_norm"] - row["accuracy_weight"])
        assert_ordered(row["low"], row["difference"], row["high"])


def test_sentences_tell_what_a_head_gets_right(probing_store, accuracies):
    cell = {"direction": "head_to_dependent", "layer": 2, "head": 3}
    for relation in ("all_words", "nsubj"):
        asked = {**cell, "merging": "first", "weighing": WEIGHT, "relation": relation}
        rows = probing_store.execute(SENTENCES_OF_RELATION, asked).df()
        known = accuracies["all"][1].loc[(WEIGHT, "first", relation, *cell.values())]
        assert rows["n"].sum() == known["n"]
        assert rows["n_right"].sum() == pytest.approx(known["n"] * known["accuracy"])
        assert rows["n"].is_monotonic_decreasing


def test_the_best_head_of_all_has_the_highest_accuracy_and_stands_beside_every_rule(probing_store):
    accuracies = probing_store.execute(
        "from coreference_accuracy_weighing order by layer, head"
    ).df()
    best = probing_store.execute("from coreference_best_weighing where chosen_on = 'all'").df()
    assert set(best["baseline"]) == set(BASELINES)
    for row in best.itertuples():
        of_type = accuracies[accuracies["mention_type"] == row.mention_type]
        is_way = (of_type["weighing"] == row.weighing) & (of_type["merging"] == row.merging)
        heads = of_type[is_way & (of_type["method"] == "head")]
        top = heads.loc[heads["accuracy"].idxmax()]
        assert (row.layer, row.head, row.n) == (top["layer"], top["head"], top["n"])
        assert row.n_tried == len(heads)
        [rule] = of_type.loc[of_type["method"] == row.baseline, "accuracy"]
        found = (row.accuracy, row.accuracy_chosen, row.baseline_accuracy, row.difference)
        expected = (top["accuracy"], top["accuracy"], rule, top["accuracy"] - rule)
        assert found == pytest.approx(expected)


Spans = list[tuple[int, int]]


def slow_mean(attention: np.ndarray, spans: Spans, attended: Spans) -> np.ndarray:
    """Mean over the pieces of the attending word, sum over those of the other."""
    means = [attention[start:end].mean(axis=0) for start, end in spans]
    return np.array([[mean[start:end].sum() for start, end in attended] for mean in means])


def test_sentences_are_cut_out_of_the_words_of_a_text(tiny, annotated):
    rows = rows_of_table(WORD_ATTENTION, tiny, annotated).to_pandas()
    found = {(row.seq, row.sentence, row.layer, row.head): row for row in rows.itertuples()}
    for layer in layers_of(tiny, annotated):
        for index, known, by_word in layer.annotated:
            text = annotated[index]
            spans = [(int(start), int(end)) for start, end in text.word_spans]
            places = [np.flatnonzero(text.token_types == kind) for kind in (CLS, SEP)]
            special = [(int(of[0]), int(of[-1]) + 1) if len(of) else (0, 0) for of in places]
            for sentence in set(known.sentences):
                words = [w for w, number in enumerate(known.sentences) if number == sentence]
                for head in range(len(by_word.mean)):
                    row = found.pop((index, sentence, layer.weights.number, head + 1))
                    assert (row.first_word, row.n_words) == (words[0], len(words))
                    matrix = layer.weighed_alone(text.index, WEIGHT)[head].numpy()
                    given = slow_mean(matrix, spans, [*spans, *special])[words]
                    np.testing.assert_allclose(row.attention, given[:, words].ravel(), rtol=1e-6)
                    np.testing.assert_allclose(row.cls, given[:, -2], rtol=1e-6)
                    np.testing.assert_allclose(row.sep, given[:, -1], rtol=1e-6)
    assert not found


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_vectors_are_means_over_pieces_of_the_first_word_that_is_not_masked(tiny, annotated):
    text = annotated[-1]
    known, spans = text.annotation, text.word_spans
    masked = np.zeros(len(text), dtype=bool)
    masked[spans[0][0]] = True
    hidden = type(text)(**vars(text) | {"masked": masked})
    rows = rows_of_table(WORD_VECTOR, tiny, [hidden]).to_pandas()
    read = list(known.forms[1:])
    assert rows["form"].tolist() == list(dict.fromkeys(read))
    embeddings = tiny.word_embeddings([hidden])[0]
    for row in rows.itertuples():
        assert row.word == read.index(row.form) + 1
        start, end = spans[row.word]
        np.testing.assert_allclose(row.vector, embeddings[start:end].mean(dim=0), rtol=1e-5)


def test_the_first_of_equal_words_is_picked():
    attention = torch.full((2, 6, 6), 1 / 6)
    assert attended_antecedents(attention, torch.tensor([2, 3, 5])).tolist() == [[NONE, 2, 2]] * 2
    sentence = torch.tensor([0, 0, 0, 1, 1, 2])
    for picked in predicted_governors(attention, sentence, is_causal=False):
        assert picked.tolist() == [[1, 0, 0, 4, 3, NONE]] * 2


FEATURES = (
    "",
    "Number=Sing",
    "Number=Plur",
    "Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "Gender=Fem,Masc|Number=Sing|Person=3|PronType=Prs",
    "Number=Sing|Person=1|PronType=Prs",
    "Number=Sing|Number[psor]=Plur|Person[psor]=1|Poss=Yes|PronType=Prs",
    "Number=Plur|Person=1|Tense=Past|VerbForm=Fin",
    "PronType=Dem",
)


def _values(features: str, name: str) -> set[str] | None:
    """Possible values of an attribute; None if nothing is known of it."""
    keys = dict(part.split("=", 1) for part in features.split("|") if "=" in part)
    if "VerbForm" in keys:
        return None
    for key in (f"{name}[psor]", name):
        if key in keys:
            return set(keys[key].split(","))
    return {"3"} if name == "Person" and keys and "PronType" not in keys else None


def slow_agreement(one: str, other: str) -> bool:
    both = [[_values(of, name) for of in (one, other)] for name in ("Number", "Gender", "Person")]
    return all(first is None or second is None or first & second for first, second in both)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 14),
            st.sampled_from(["the cat", "a cat", "it"]),
            st.sampled_from(["cat", "it"]),
            st.sampled_from(FEATURES),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_the_sieve_walks_back_through_the_text_rule_by_rule(mentions):
    """clark-2019, section 4.3, and lee-2011, section 2.3."""
    heads, texts, head_texts, features = map(list, zip(*mentions, strict=True))
    picked = []
    for m, head in enumerate(heads):
        before = sorted((e for e in range(len(heads)) if heads[e] < head), key=lambda e: -heads[e])
        rules = [
            [e for e in before if texts[e] == texts[m]],
            [e for e in before if head_texts[e] == head_texts[m]],
            [e for e in before if slow_agreement(features[e], features[m])],
            before,
        ]
        caught = next((found for found in rules if found), [])
        picked.append(heads[caught[0]] if caught else -1)
    by_sieve = sieve(np.array(heads), texts, head_texts, agreement(features))
    assert by_sieve.tolist() == picked


def test_things_joined_together_are_plural_and_none_of_a_masked_word_is_left():
    joined = Annotation(
        forms=("Dog", ",", "cat", "ran", ".", "Mat", "sat"),
        spaces=(True,) * 7,
        sentences=(0,) * 5 + (1,) * 2,
        governors=(3, 2, 0, -1, 3, 6, -1),
        relations=("nsubj", "punct", "conj:and", "root", "punct", "nsubj", "root"),
        parts_of_speech=("NOUN", "PUNCT", "NOUN", "VERB", "PUNCT", "PRON", "VERB"),
        features=("Gender=Fem|Number=Sing", "", "Number=Sing", "", "", "Number=Plur", ""),
        mentions=(
            Mention(0, 2, 0, cluster=1, kind="nominal"),
            Mention(2, 2, 2, cluster=2, kind="nominal"),
            Mention(5, 5, 5, cluster=1, kind="pronoun"),
        ),
    )
    mentions = mentions_of(joined, np.zeros(7, dtype=bool))
    assert mentions.features == ("Gender=Fem|Number=Plur", "Number=Sing", "Number=Plur")
    assert mentions.texts == ("dog , cat", "cat", "mat")
    assert mentions.scored.tolist() == [2]
    hidden = mentions_of(joined, np.arange(7) == 2)
    assert (hidden.texts, hidden.scored.tolist()) == (("mat",), []), "one has lost its antecedent"
    assert not len(mentions_of(joined, np.ones(7, dtype=bool)).heads)
