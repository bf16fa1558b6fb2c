import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.pairs.token_relation import token_relations
from analysis.scopes import RELATIONS
from tests.reference.pairs import token_relation as reference

TOKENS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-1, 4), st.integers(0, 1)), min_size=1, max_size=12
)


def relations(ids, words, segments) -> np.ndarray:
    return token_relations(np.array(ids), np.array(words), np.array(segments, dtype=np.uint8))


@given(TOKENS)
def test_every_pair_has_the_relation_of_its_slow_twin(tokens):
    ids, words, segments = (list(column) for column in zip(*tokens, strict=True))
    table = relations(ids, words, segments)
    for query in range(len(ids)):
        for key in range(len(ids)):
            expected = reference.relation(query, key, ids, words, segments)
            assert RELATIONS[table[query, key]] == expected
    assert (table == table.T).all()


def test_a_word_in_pieces_beside_its_neighbours():
    # [CLS] det ##our a det [SEP] b
    table = relations([101, 7, 8, 9, 7, 102, 5], [-1, 0, 0, 1, 2, -1, 3], [0, 0, 0, 0, 0, 0, 1])
    named = [RELATIONS[place] for place in table[1]]
    assert named == [
        "special",
        "same_word",
        "word_pieces",
        "same_segment",
        "same_word",
        "special",
        "other_segment",
    ]
    assert RELATIONS[table[2, 3]] == "adjacent"
