import numpy as np
import pytest

from analysis.measures.layer_mixing import layer_mixing
from analysis.measures.pair_delta import pair_deltas
from analysis.measures.sequence_relation_change import relation_changes
from analysis.measures.token_relation import token_relations
from analysis.scopes import EFFECTS, RELATIONS, SCOPES
from tests.reference import sequence_relation_change as reference


@pytest.fixture(scope="module")
def related(traced_alone, sequences) -> list[tuple[np.ndarray, np.ndarray]]:
    """Maps and relations of every sequence's last layer."""
    return [
        (
            layer_mixing(trace.layers[-1]).maps.numpy(),
            token_relations(sequence.ids, sequence.words, sequence.segments),
        )
        for trace, sequence in zip(traced_alone, sequences, strict=True)
    ]


def test_changes_follow_their_slow_twin_pair_by_pair(related):
    for maps, relations in related:
        names = [[RELATIONS[place] for place in row] for row in relations]
        n, change, gain = relation_changes(pair_deltas(maps), relations)
        for effect, scopes in enumerate(EFFECTS.values()):
            before, after = (maps[SCOPES.index(name)].tolist() for name in scopes)
            expected = reference.relation_changes(before, after, names)
            for place, relation in enumerate(RELATIONS):
                found = n[place], change[effect, place], gain[effect, place]
                assert found == pytest.approx(expected.get(relation, (0, 0, 0)), rel=1e-9)


def test_every_ordered_pair_is_of_one_relation(related):
    for maps, relations in related:
        n, _, _ = relation_changes(pair_deltas(maps), relations)
        assert n.sum() == len(relations) * (len(relations) - 1)


def test_gains_and_losses_make_up_the_change(related):
    for maps, relations in related:
        deltas = pair_deltas(maps)
        _, change, gain = relation_changes(deltas, relations)
        _, other_way, loss = relation_changes(-deltas, relations)
        np.testing.assert_allclose(gain + loss, change, rtol=1e-12)
        np.testing.assert_array_equal(change, other_way)


def test_what_a_token_does_to_itself_is_left_out():
    deltas = np.eye(3)[None].repeat(len(EFFECTS), axis=0)
    _, change, gain = relation_changes(deltas, np.zeros((3, 3), dtype=np.int8))
    assert not change.any()
    assert not gain.any()


def test_a_sequence_of_one_token_has_no_pair():
    deltas = np.ones((len(EFFECTS), 1, 1))
    n, change, gain = relation_changes(deltas, np.zeros((1, 1), dtype=np.int8))
    assert n.sum() == change.sum() == gain.sum() == 0
