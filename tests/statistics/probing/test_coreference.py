"""Accuracies of picked antecedents, against counts of stored picks."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.measures.bootstrap import redraws
from analysis.measures.probing.probe_accuracy import accuracy_interval, halves
from analysis.statistics.base.weighing import NORM, WEIGHINGS, WEIGHT
from analysis.statistics.corpus import MERGINGS
from analysis.statistics.probing.accuracy import (
    BASELINES,
    CHOSEN_ON,
    COREFERENCE_ACCURACY,
    COREFERENCE_BEST,
    COREFERENCE_DIFFERENCE,
)
from precompute.corpora.sequence import Annotation
from tests.intervals import assert_ordered
from tests.statistics.fits import made, store_of
from tests.tiny import HEADS, LAYERS

BEST = """
    from coreference_best_weighing where merging = ? and chosen_on = ? and weighing = ?"""
CELLS = list(product(range(1, LAYERS + 1), range(1, HEADS + 1)))
RULE = (None, None, None, None)
Counts = dict[int, tuple[int, int]]


@pytest.fixture(scope="module")
def texts(probing_run) -> dict[int, Annotation]:
    """The texts that have a mention with an antecedent."""
    known = {sequence.index: sequence.annotation for sequence in probing_run[1].corpus}
    return {seq: of for seq, of in known.items() if _scored(of)}


def _scored(known: Annotation) -> list[int]:
    """Mentions that have an earlier one of their cluster."""
    return [
        place
        for place, mention in enumerate(known.mentions)
        if any(e.cluster == mention.cluster and e.head < mention.head for e in known.mentions)
    ]


@pytest.fixture(scope="module")
def counts(probing_store, texts) -> dict[tuple[Any, ...], Counts]:
    """Mentions and right picks by text, by type, method, weighing, merging, layer and head."""
    rows = probing_store.execute("from coreference_prediction_weighing").df()
    assert set(rows["seq"]) == set(texts)
    assert len(rows) == len(texts) * (len(CELLS) * len(MERGINGS) * len(WEIGHINGS) + len(BASELINES))
    found: dict[tuple[Any, ...], Counts] = {}
    for row in rows.itertuples():
        known = texts[row.seq]
        assert list(row.mentions) == _scored(known)
        names = ("weighing", "merging", "layer", "head")
        cell = tuple(getattr(row, name) for name in names) if row.method == "head" else RULE
        for mention, word, is_right in zip(row.mentions, row.predicted, row.correct, strict=True):
            this = known.mentions[mention]
            antecedents = [e.head for e in known.mentions if e.cluster == this.cluster]
            assert is_right == (word in antecedents and word < this.head)
            for kind in ("all", this.kind):
                by_text = found.setdefault((kind, row.method, *cell), {})
                n, right = by_text.get(row.seq, (0, 0))
                by_text[row.seq] = n + 1, right + is_right
    return found


def _sums(of: Counts, part: Any = None) -> tuple[int, int]:
    chosen = [count for seq, count in of.items() if part is None or seq in part]
    return sum(n for n, _ in chosen), sum(right for _, right in chosen)


def _parts(texts: dict[int, Annotation], chosen_on: str) -> tuple[list[int], list[int]]:
    """Texts to choose on, and to score on."""
    order = sorted(texts)
    if chosen_on == "all":
        return order, order
    first = halves(len(order), seed=0) == (chosen_on == "first")
    return list(np.array(order)[first]), list(np.array(order)[~first])


def test_accuracies_are_shares_of_the_mentions_that_have_an_antecedent(probing_store, counts):
    rows = probing_store.execute("from coreference_accuracy_weighing").df()
    assert len(rows) == len(counts)
    for row in rows.itertuples():
        cell = (row.weighing, row.merging, row.layer, row.head) if row.method == "head" else RULE
        n, right = _sums(counts[row.mention_type, row.method, *cell])
        assert (row.n, row.accuracy) == (n, pytest.approx(right / n))
    assert_ordered(rows["low"], rows["accuracy"], rows["high"])


@pytest.mark.parametrize("chosen_on", CHOSEN_ON)
def test_the_best_head_is_chosen_on_one_part_and_scored_on_the_other(
    chosen_on, probing_store, texts, counts
):
    chosen, scored = _parts(texts, chosen_on)
    for merging, weighing in product(MERGINGS, WEIGHINGS):
        rows = probing_store.execute(BEST, [merging, chosen_on, weighing]).df()
        assert set(rows["mention_type"]) == {key[0] for key in counts}
        assert_ordered(rows["low"], rows["accuracy"], rows["high"])
        for row in rows.itertuples():
            heads = [counts[row.mention_type, "head", weighing, merging, *cell] for cell in CELLS]
            hits = [_sums(of, chosen)[1] for of in heads]
            best = hits.index(max(hits))
            assert (row.layer, row.head) == CELLS[best]
            n_chosen, (n, right) = _sums(heads[best], chosen)[0], _sums(heads[best], scored)
            assert (row.n_tried, row.n_chosen, row.n) == (len(CELLS), n_chosen, n)
            theirs = _sums(counts[row.mention_type, row.baseline, *RULE], scored)[1]
            found = (row.accuracy_chosen, row.accuracy, row.baseline_accuracy, row.difference)
            expected = (max(hits) / n_chosen, right / n, theirs / n, (right - theirs) / n)
            assert found == pytest.approx(expected)


@pytest.mark.parametrize("merging", MERGINGS)
def test_the_best_by_norms_is_compared_with_the_best_by_weights_on_the_same_mentions(
    probing_store, texts, counts, merging
):
    rows = probing_store.execute("from coreference_difference where merging = ?", [merging]).df()
    assert set(rows["chosen_on"]) == set(CHOSEN_ON)
    row: Any
    for row in rows.itertuples():
        _, scored = _parts(texts, row.chosen_on)
        of = {}
        for way in WEIGHINGS:
            best = probing_store.execute(BEST, [merging, row.chosen_on, way]).df()
            best = best[best["mention_type"] == row.mention_type].iloc[0]
            place = [getattr(row, f"{name}_{way}") for name in ("layer", "head")]
            assert place == best[["layer", "head"]].tolist()
            assert getattr(row, f"accuracy_{way}") == pytest.approx(best["accuracy"])
            by_text = counts[row.mention_type, "head", way, merging, *place]
            of[way] = np.array([by_text.get(seq, (0, 0)) for seq in scored])
        n, more = of[NORM][:, 0], of[NORM][:, 1] - of[WEIGHT][:, 1]
        assert (row.n, row.difference) == (n.sum(), pytest.approx(more.sum() / n.sum()))
        drawn = redraws(np.arange(len(scored)), seed=0)
        (low,), (high,) = accuracy_interval(more[:, None].astype(float), n, drawn)
        assert (row.low, row.high) == pytest.approx((low, high), nan_ok=True)


def test_texts_without_mentions_have_no_accuracy(probing_store):
    nothing = probing_store.sql("from coreference_prediction_weighing limit 0").to_arrow_table()
    mentions = pd.DataFrame({"seq": [0], "mention": [0], "mention_type": ["pronoun"]})
    with store_of(coreference_prediction_weighing=nothing, mention=mentions) as store:
        for table in (
            COREFERENCE_ACCURACY,
            COREFERENCE_BEST,
            COREFERENCE_DIFFERENCE,
        ):
            assert made(table, store).empty
