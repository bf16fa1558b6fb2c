"""Stored antecedents and accuracies of heads and rules, against a loop over the mentions."""

from typing import Any

import duckdb
import pytest

from analysis.measures.probing.probe_accuracy import halves
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.probing import (
    coreference_accuracy,
    coreference_best,
    coreference_prediction,
)
from analysis.statistics.probing.coreference_best import CHOSEN_ON
from analysis.statistics.probing.coreference_prediction import BASELINES, MENTION_TYPES
from precompute.corpora.annotated.annotation import Annotation
from precompute.models.load_models import load_model
from precompute.passes.batch import Batch
from tests.intervals import assert_ordered
from tests.reference.probing import coreference_accuracy as reference
from tests.reference.probing import coreference_baseline as rules
from tests.reference.probing import coreference_prediction as prediction
from tests.small_store import build_store
from tests.tiny import HEADS, LAYERS

CELLS = [(place // HEADS + 1, place % HEADS + 1) for place in range(LAYERS * HEADS)]
Method = tuple[str, str | None, int | None, int | None]
Picked = dict[Method, dict[int, list[int]]]


@pytest.fixture(scope="module")
def texts(probing_run) -> dict[int, Annotation]:
    """The texts that have a mention with an antecedent."""
    annotations = {
        sequence.index: sequence.annotation
        for sequence in probing_run[1].corpus
        if sequence.annotation
    }
    return {seq: known for seq, known in annotations.items() if scored(known)}


@pytest.fixture(scope="module")
def slow(probing_run, texts) -> Picked:
    """Antecedents picked by the twins for every mention of every text, by method."""
    asked, plan = probing_run
    model = load_model(asked.model, device="cpu")
    by_method: Picked = {}
    for sequence in plan.corpus:
        if sequence.index not in texts:
            continue
        ((seq, known, attention),) = Batch((sequence,), model.trace([sequence])).annotated
        for merging, maps in zip(MERGINGS, (attention.mean, attention.first), strict=True):
            for (layer, head), matrix in zip(CELLS, maps.tolist(), strict=True):
                picked = prediction.picked(matrix, heads_of(known))
                by_method.setdefault(("head", merging, layer, head), {})[seq] = picked
        for rule, picked in by_rules(known).items():
            by_method.setdefault((rule, None, None, None), {})[seq] = picked
    return by_method


def heads_of(known: Annotation) -> list[int]:
    return [mention.head for mention in known.mentions]


def clusters_of(known: Annotation) -> list[int]:
    return [mention.cluster for mention in known.mentions]


def scored(known: Annotation) -> list[int]:
    heads, clusters = heads_of(known), clusters_of(known)
    return [m for m in range(len(heads)) if reference.antecedents(heads, clusters, m)]


def by_rules(known: Annotation) -> dict[str, list[int]]:
    heads = heads_of(known)
    words = [form.lower() for form in known.forms]
    texts = [" ".join(words[span.first : span.last + 1]) for span in known.mentions]
    features = [known.features[head] for head in heads]
    for place, mention in enumerate(known.mentions):
        inside = range(mention.first, mention.last + 1)
        if any((known.relations or ())[w] == "conj" for w in inside):
            features[place] = "Number=Plur"
    head_texts = [words[head] for head in heads]
    return {
        "nearest": rules.nearest(heads),
        "head_match": rules.head_match(heads, head_texts),
        "sieve": rules.sieve(heads, texts, head_texts, features),
    }


def counted(slow: Picked, texts: dict[int, Annotation], mention_type: str) -> Any:
    """Numbers of right mentions by method and text, and of all mentions."""
    n: dict[int, int] = {}
    right: dict[Method, dict[int, int]] = {}
    for seq, known in texts.items():
        chosen = [m for m in scored(known) if mention_type in ("all", known.mentions[m].kind)]
        n[seq] = len(chosen)
        for method, picked in slow.items():
            verdicts = reference.right(picked[seq], heads_of(known), clusters_of(known))
            right.setdefault(method, {})[seq] = sum(verdicts[m] for m in chosen)
    return right, n


def test_what_is_picked_is_what_the_twins_pick(probing_store, slow, texts):
    rows = probing_store.execute("from coreference_prediction").df()
    assert len(rows) == len(texts) * (len(CELLS) * len(MERGINGS) + len(BASELINES))
    for row in rows.itertuples():
        known = texts[row.seq]
        place = (row.merging, row.layer, row.head) if row.method == "head" else (None,) * 3
        picked = slow[(row.method, *place)][row.seq]
        verdicts = reference.right(picked, heads_of(known), clusters_of(known))
        assert list(row.mentions) == scored(known)
        assert list(row.predicted) == [picked[m] for m in scored(known)]
        assert list(row.correct) == [verdicts[m] for m in scored(known)]


@pytest.fixture(scope="module")
def types(texts, family) -> list[str]:
    """The types of mention that have an antecedent somewhere; windows hold fewer small pieces."""
    kinds = {known.mentions[m].kind for known in texts.values() for m in scored(known)}
    there = [name for name in MENTION_TYPES if name == "all" or name in kinds]
    assert family != "bert" or there == list(MENTION_TYPES)
    return there


def test_accuracies_are_shares_of_the_mentions_that_have_an_antecedent(
    probing_store, slow, texts, types
):
    for mention_type in MENTION_TYPES:
        right, n = counted(slow, texts, mention_type)
        for merging in MERGINGS:
            rows = coreference_accuracy.of_type(
                probing_store, mention_type=mention_type, merging=merging
            )
            assert len(rows) == (len(CELLS) + len(BASELINES)) * (mention_type in types)
            for row in rows.itertuples():
                is_head = row.method == "head"
                place = (merging, row.layer, row.head) if is_head else (None,) * 3
                of_method = right[(row.method, *place)]
                assert row.n == sum(n.values())
                assert row.accuracy == pytest.approx(sum(of_method.values()) / sum(n.values()))
            assert_ordered(rows["low"], rows["accuracy"], rows["high"])


def test_the_contract_shows_means_over_pieces_and_every_rule(probing_store):
    rows = probing_store.execute("from coreference_accuracy").df()
    assert (rows[["mention_type", "method", "layer", "head"]].value_counts(dropna=False) == 1).all()
    of_all = coreference_accuracy.of_type(probing_store, mention_type="all", merging="mean")
    shown = rows[rows["mention_type"] == "all"].sort_values(["method", "layer", "head"])
    expected = of_all.sort_values(["method", "layer", "head"])
    assert shown["accuracy"].tolist() == expected["accuracy"].tolist()


@pytest.mark.parametrize("chosen_on", CHOSEN_ON)
def test_the_best_head_is_chosen_on_one_part_and_scored_on_the_other(
    chosen_on, probing_store, slow, texts, types, probing_run
):
    seed = probing_run[0].seed
    first = dict(zip(sorted(texts), halves(len(texts), seed=seed).tolist(), strict=True))
    chosen = {seq for seq in texts if chosen_on == "all" or first[seq] == (chosen_on == "first")}
    others = set(texts) if chosen_on == "all" else set(texts) - chosen
    for merging in MERGINGS:
        rows = coreference_best.best(probing_store, merging=merging, chosen_on=chosen_on)
        assert set(rows["mention_type"]) == set(types)
        assert_ordered(rows["low"], rows["accuracy"], rows["high"])
        for row in rows.itertuples():
            right, n = counted(slow, texts, str(row.mention_type))
            of_heads = [
                sum(right[("head", merging, *cell)][seq] for seq in chosen) for cell in CELLS
            ]
            best = CELLS[of_heads.index(max(of_heads))]
            assert (row.layer, row.head) == best
            assert row.n_tried == len(CELLS)
            n_chosen, n_scored = (sum(n[seq] for seq in part) for part in (chosen, others))
            assert (row.n_chosen, row.n) == (n_chosen, n_scored)
            assert row.accuracy_chosen == pytest.approx(max(of_heads) / n_chosen)
            ours = sum(right[("head", merging, *best)][seq] for seq in others) / n_scored
            theirs = sum(right[(row.baseline, None, None, None)][s] for s in others) / n_scored
            assert row.accuracy == pytest.approx(ours)
            assert row.baseline_accuracy == pytest.approx(theirs)
            assert row.difference == pytest.approx(ours - theirs)


def test_questions_about_one_text_tell_its_mentions(probing_store, texts, slow):
    chosen: dict[str, Any] = {"method": "head", "merging": "mean", "layer": 2, "head": 1}
    rows = coreference_prediction.by_sequence(probing_store, **chosen)
    assert rows["seq"].tolist() == sorted(texts)
    for row in rows.itertuples():
        known = texts[int(str(row.seq))]
        mentions = coreference_prediction.of_sequence(
            probing_store, seq=int(str(row.seq)), **chosen
        )
        assert mentions["mention"].tolist() == scored(known)
        assert (row.n, row.n_right) == (len(mentions), mentions["correct"].sum())
        heads, clusters = heads_of(known), clusters_of(known)
        nearest = [max(reference.antecedents(heads, clusters, m)) for m in scored(known)]
        assert mentions["antecedent"].tolist() == nearest
        kinds = [known.mentions[m].kind for m in scored(known)]
        assert mentions["mention_type"].tolist() == kinds


def test_a_head_on_all_types_is_that_head_and_every_rule(probing_store, types):
    rows = coreference_accuracy.of_head(probing_store, merging="first", layer=1, head=2)
    assert set(rows["method"]) == {"head", *BASELINES}
    expected = [
        coreference_accuracy.of_type(probing_store, mention_type=name, merging="first")
        .query("layer == 1 and head == 2")["accuracy"]
        .item()
        for name in types
    ]
    assert rows.loc[rows["method"] == "head", "accuracy"].tolist() == expected


def test_plain_text_has_no_mentions_and_no_accuracy(tmp_path):
    path = build_store(tmp_path, statistics=["token_norm"])
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.execute("select count(*) from coreference_accuracy").fetchall() == [(0,)]
        assert plain.execute("select count(*) from coreference_best").fetchall() == [(0,)]


def test_a_choice_that_there_is_not_is_refused(probing_store):
    with pytest.raises(ValueError, match="chosen on third"):
        coreference_best.best(probing_store, merging="mean", chosen_on="third")
