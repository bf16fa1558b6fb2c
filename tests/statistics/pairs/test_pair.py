"""Pairs of the corpus: counted one by one, with a PMI from exact fractions."""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.measures.pairs.token_relation import token_relations
from analysis.scopes import RELATIONS
from precompute.corpora.sequence import Sequence

Words = list[int | None]
Counts = dict[tuple[int, int], tuple[int, Counter[str]]]


def slow_pmi(
    sequences: list[Words], *, causal: bool, window: int | None = None
) -> dict[tuple[int, int], float]:
    """church-1990: log2 p(source, target) / (p(source) p(target)), exact, so that ties are ties."""
    pairs = [both for words in sequences for both, _ in places(words, causal=causal, window=window)]
    n, together = len(pairs), Counter(pairs)
    sides = [Counter(both[side] for both in pairs) for side in (0, 1)]
    return {
        both: math.log2(Fraction(count * n, sides[0][both[0]] * sides[1][both[1]]))
        for both, count in together.items()
    }


def places(
    words: Words, *, causal: bool, window: int | None = None
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Source and target of every occurrence of a pair, and positions of target and source."""
    return [
        ((source, target), (i, j))
        for i, target in enumerate(words)
        for j, source in enumerate(words)
        if (j < i if causal else j != i)
        and source is not None
        and target is not None
        and (window is None or abs(i - j) <= window)
    ]


def _counted(sequences: Iterable[Sequence], *, is_causal: bool) -> Counts:
    """Number of sequences and count of each relation, for every ordered pair."""
    by_pair: Counts = {}
    for sequence in sequences:
        relations = token_relations(sequence.ids, sequence.words, sequence.segments)
        here: dict[tuple[int, int], Counter[str]] = {}
        for i, j in permutations(range(len(sequence)), 2):
            if j < i or not is_causal:
                both = int(sequence.ids[j]), int(sequence.ids[i])
                here.setdefault(both, Counter())[RELATIONS[relations[i, j]]] += 1
        for both, counts in here.items():
            n_sequences, before = by_pair.get(both, (0, Counter()))
            by_pair[both] = n_sequences + 1, before + counts
    return by_pair


def pmi_of_pairs(n: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """PMI of every pair, from the number of its occurrences."""
    of_source, of_target = (
        np.bincount(side, weights=n).astype(np.int64)[side] for side in (source, target)
    )
    return pointwise_mutual_information(n.astype(np.int64), of_source, of_target, int(n.sum()))


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=6), min_size=1, max_size=4))
def test_pmi_follows_its_definition_pair_by_pair(corpus):
    expected = slow_pmi(corpus, causal=False)
    counts = Counter(both for ids in corpus for both in permutations(ids, 2))
    source, target = np.array(list(counts)).T
    pmi = pmi_of_pairs(np.array(list(counts.values())), source, target)
    assert pmi.tolist() == pytest.approx([expected[both] for both in counts], abs=1e-12)


@pytest.mark.parametrize(
    ("n", "kind"), [(2_000_000_000, np.int32), (4_000_000_000, np.int64), (2**40, np.int64)]
)
def test_counts_of_a_large_corpus_do_not_overflow(n, kind):
    counts = np.array([n], dtype=kind)
    assert pointwise_mutual_information(counts, counts, counts, n).tolist() == [0]


def test_every_pair_has_its_counts_and_its_relation_in_both_tables(pair_store, pair_run, is_causal):
    counted = _counted(pair_run[1].corpus, is_causal=is_causal)
    rows = pair_store.execute(
        "select source, target, n, n_sequences, relation, relation_share, has_special from pair"
    ).fetchall()
    assert {row[:2] for row in rows} == set(counted)
    for source, target, n, n_sequences, relation, share, has_special in rows:
        in_sequences, counts = counted[source, target]
        assert (n, n_sequences) == (counts.total(), in_sequences)
        assert relation == max(RELATIONS, key=lambda name: counts[name])
        assert share == pytest.approx(counts[relation] / n)
        assert has_special == (counts["special"] > 0)
    different = pair_store.execute(
        "select count(*) from pair "
        "full join pair_delta_wide using (n, n_sequences, source, target) "
        "where relation_share is null or mean_ff is null "
        "or list_position($relations, pair.relation) <> pair_delta_wide.relation + 1",
        {"relations": list(RELATIONS)},
    ).fetchall()
    assert different == [(0,)]


def test_pmi_is_over_words_alone(pair_store, pair_words, is_causal):
    """Special and masked tokens are not counted and have none."""
    expected = slow_pmi(pair_words, causal=is_causal)
    rows = pair_store.execute("select source, target, pmi, has_special from pair").fetchall()
    of_words = {(source, target): pmi for source, target, pmi, special in rows if not special}
    assert of_words == pytest.approx(expected, abs=1e-6)
    assert len(of_words) < len(rows) or not any(None in words for words in pair_words)
    assert all(pmi is None for _, _, pmi, special in rows if special)
