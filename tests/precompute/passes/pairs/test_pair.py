from collections import Counter
from collections.abc import Iterable
from itertools import permutations

import pytest

from analysis.measures.pairs.token_relation import token_relations
from analysis.scopes import RELATIONS
from analysis.statistics.pairs import pair
from precompute.corpora.sequence import Sequence
from tests.reference.pairs import pair as reference

Counts = dict[tuple[int, int], tuple[int, Counter[str]]]


def _counted(sequences: Iterable[Sequence], *, is_causal: bool) -> Counts:
    """Number of sequences and count of each relation, for every ordered pair."""
    by_pair: Counts = {}
    for sequence in sequences:
        relations = token_relations(sequence.ids, sequence.words, sequence.segments)
        here: dict[tuple[int, int], Counter[str]] = {}
        for i, j in permutations(range(len(sequence)), 2):
            if is_causal and j > i:
                continue
            both = int(sequence.ids[j]), int(sequence.ids[i])
            here.setdefault(both, Counter())[RELATIONS[relations[i, j]]] += 1
        for both, counts in here.items():
            n_sequences, before = by_pair.get(both, (0, Counter()))
            by_pair[both] = n_sequences + 1, before + counts
    return by_pair


@pytest.fixture(scope="module")
def counted(pair_run, is_causal) -> Counts:
    return _counted(pair_run[1].corpus, is_causal=is_causal)


def test_every_pair_has_its_counts_and_its_relation(pair_store, counted):
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


def test_a_model_of_one_layer_has_every_pair(one_layer_run, one_layer_store):
    expected = _counted(one_layer_run[1].corpus, is_causal=False)
    rows = one_layer_store.execute("select source, target, n, n_sequences from pair").fetchall()
    assert {(source, target): (n, of) for source, target, n, of in rows} == {
        pair: (counts.total(), n_sequences) for pair, (n_sequences, counts) in expected.items()
    }


def test_pmi_follows_its_definition_pair_by_pair(pair_store, pair_words, is_causal):
    """PMI is over words alone: special and masked tokens are not counted and have none."""
    expected = reference.pmi(pair_words, causal=is_causal)
    rows = pair_store.execute("select source, target, pmi, has_special from pair").fetchall()
    of_words = [(source, target, pmi) for source, target, pmi, special in rows if not special]
    assert len(of_words) == len(expected)
    for source, target, pmi in of_words:
        assert pmi == pytest.approx(expected[source, target], abs=1e-6)
    assert len(of_words) < len(rows) or not any(None in words for words in pair_words)
    assert all(pmi is None for _, _, pmi, special in rows if special)


def test_pairs_and_their_averages_count_the_same(pair_store):
    different = pair_store.execute(
        "select count(*) from pair "
        "full join pair_delta_wide using (n, n_sequences, source, target) "
        "where relation_share is null or mean_ff is null "
        "or list_position($relations, pair.relation) <> pair_delta_wide.relation + 1",
        {"relations": list(RELATIONS)},
    ).fetchall()
    assert different == [(0,)]


def test_one_pair_is_told_by_its_tokens(pair_store):
    for source, target, n in pair_store.execute(
        "select source, target, n from pair order by hash(source, target) limit 5"
    ).fetchall():
        rows = pair.of_pair(pair_store, source_id=source, target_id=target)
        assert rows["n"].tolist() == [n]
    assert pair.of_pair(pair_store, source_id=-1, target_id=-1).empty
