"""Heads that pick antecedents: against a loop, and heads planted to be right."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.probing.coreference_prediction import NONE, attended_antecedents
from precompute.passes.batch import Batch
from tests.reference.probing import coreference_prediction as twin
from tests.tiny import text_families

PLACES = st.lists(st.integers(0, 11), min_size=1, max_size=9)


def random_attention(seed: int, n_heads: int = 3, n_words: int = 12) -> torch.Tensor:
    scores = torch.randn(
        n_heads, n_words, n_words, generator=torch.Generator().manual_seed(seed)
    ).double()
    return torch.softmax(scores, dim=-1)


@given(heads=PLACES, seed=st.integers(0, 99))
def test_heads_pick_what_the_twin_picks(heads, seed):
    attention = random_attention(seed)
    picked = attended_antecedents(attention, torch.tensor(heads))
    assert picked.tolist() == [twin.picked(matrix, heads) for matrix in attention.tolist()]


@text_families
def test_heads_of_every_family_pick_what_the_twin_picks(tiny, annotated):
    of_mentions = [
        (by_word, [mention.head for mention in known.mentions])
        for _, known, by_word in Batch(annotated, tiny.trace(annotated)).annotated
        if known.mentions
    ]
    assert of_mentions
    for by_word, heads in of_mentions:
        for attention in (by_word.mean, by_word.first):
            picked = attended_antecedents(attention, torch.tensor(heads))
            assert picked.tolist() == [twin.picked(matrix, heads) for matrix in attention.tolist()]


def test_the_first_of_equal_words_is_picked():
    attention = torch.full((2, 6, 6), 1 / 6)
    assert attended_antecedents(attention, torch.tensor([2, 3, 5])).tolist() == [[NONE, 2, 2]] * 2
