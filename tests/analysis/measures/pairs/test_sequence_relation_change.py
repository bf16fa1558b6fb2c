import numpy as np
import pytest

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.pairs.pair_delta import pair_deltas
from analysis.measures.pairs.sequence_relation_change import relation_changes, shares_before
from analysis.measures.pairs.token_relation import token_relations
from analysis.models.trace import LayerWeights
from analysis.scopes import POST_NORM, RELATIONS
from tests.reference.pairs import sequence_relation_change as reference

Related = tuple[np.ndarray, np.ndarray, LayerWeights]


@pytest.fixture(scope="module")
def related(traced_alone, sequences) -> list[Related]:
    """Maps and relations of every sequence's last layer, and the layer's weights."""
    return [
        (
            layer_mixing(trace.layers[-1]).maps.numpy(),
            token_relations(sequence.ids, sequence.words, sequence.segments),
            trace.layers[-1].weights,
        )
        for trace, sequence in zip(traced_alone, sequences, strict=True)
    ]


def changes(maps: np.ndarray, relations: np.ndarray, weights: LayerWeights):
    """Result of the measure for one layer."""
    pairs = weights.pairs(len(relations)).numpy()
    before = shares_before(maps, weights.order)
    return relation_changes(before, pair_deltas(maps, weights.order), relations, pairs)


def test_changes_follow_their_slow_twin_pair_by_pair(related):
    for maps, relations, weights in related:
        names = [[RELATIONS[place] for place in row] for row in relations]
        n, held, change, gain = changes(maps, relations, weights)
        of_scope = dict(zip(weights.order.scopes, maps.tolist(), strict=True))
        for effect, (before, after) in enumerate(weights.order.effects.values()):
            expected = reference.relation_changes(
                of_scope[before], of_scope[after], names, causal=weights.is_causal
            )
            for place, relation in enumerate(RELATIONS):
                found = (n[place], *(sums[effect, place] for sums in (held, change, gain)))
                assert found == pytest.approx(expected.get(relation, (0, 0, 0, 0)), rel=1e-9)


def test_a_sequence_of_one_token_has_no_pair():
    deltas = np.ones((len(POST_NORM.effects), 1, 1))
    totals = relation_changes(
        deltas, deltas, np.zeros((1, 1), dtype=np.int8), np.ones((1, 1), dtype=bool)
    )
    assert [total.sum() for total in totals] == [0, 0, 0, 0]
