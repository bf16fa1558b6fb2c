import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.pairs.pair_pmi_correlation import (
    LEAST_WORDS,
    correlation,
    dyadic_variance,
    word_pairs,
)
from analysis.measures.pairs.partial_rank_correlation import ranked
from tests.analysis.measures.pairs.counted import pmi_of_pairs
from tests.reference.pairs import pair_pmi_correlation as reference

N_WORDS = 200
rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(-1, 1)),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row[:2],
)


def draw_pairs(generator: np.random.Generator, n_sequences: int = 12) -> tuple[np.ndarray, ...]:
    """source, target, PMI of the pairs that occur twice in texts of Zipfian words, and counts."""
    odds = 1 / (np.arange(N_WORDS) + 2.7)
    texts = generator.choice(N_WORDS, size=(n_sequences, 40), p=odds / odds.sum())
    target, source = np.nonzero(~np.eye(40, dtype=bool))
    pairs, n = np.unique(texts[:, source] * N_WORDS + texts[:, target], return_counts=True)
    pmi = pmi_of_pairs(n, pairs // N_WORDS, pairs % N_WORDS)
    often = n > 1
    return *np.divmod(pairs[often], N_WORDS), pmi[often], np.bincount(texts.ravel())


def standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def with_word_effects(seed: int, *, planted: float, of_words: float = 1.0):
    """ρ of PMI and change, raw and partial, where words have frequencies and effects of their own.

    Args:
        planted: how much a pair's change owes to its PMI, given the words' frequencies.
        of_words: how much of it is due to the single words, whatever their frequencies.
    """
    generator = np.random.default_rng(seed)
    source, target, pmi, counts = draw_pairs(generator)
    pmi = pmi + generator.normal(size=N_WORDS)[source] + generator.normal(size=N_WORDS)[target]
    predictors = tuple(ranked(values) for values in (pmi, counts[source], counts[target]))
    of_pmi, *frequencies = (standardised(predictor.rank) for predictor in predictors)
    effects = generator.normal(size=(2, N_WORDS)) * of_words
    change = sum(frequencies) + planted * of_pmi
    change += effects[0][source] + effects[1][target] + generator.normal(size=len(source))
    pairs = word_pairs(source, target)
    raw = correlation(predictors[0], ranked(change), (), pairs)
    partial = correlation(predictors[0], ranked(change), predictors[1:], pairs)
    assert raw is not None
    assert partial is not None
    return raw, partial


@given(rows)
def test_variance_follows_its_definition(drawn):
    source, target, influence = (np.array(column) for column in zip(*drawn, strict=True))
    expected = reference.dyadic_variance(influence.tolist(), [row[:2] for row in drawn])
    variance = dyadic_variance(influence, word_pairs(source, target))
    assert variance == pytest.approx(expected, abs=1e-12)


def test_frequencies_of_words_are_no_effect_of_pmi():
    """Change that follows word frequencies alone: raw ρ is far from 0, partial ρ is not."""
    draws = [with_word_effects(seed, planted=0, of_words=0) for seed in range(20)]
    raw, partial = (np.array([draw.spearman for draw in side]) for side in zip(*draws, strict=True))
    assert (np.abs(raw) > 0.1).mean() > 0.9
    assert abs(partial.mean()) < 0.02


def test_an_effect_of_pmi_is_found_beside_those_of_words():
    partial = [with_word_effects(seed, planted=1.0)[1] for seed in range(20)]
    assert all(draw.low > 0 for draw in partial)


def test_the_interval_covers_19_times_of_20_where_words_have_effects():
    """The interval of independent pairs would cover far less often."""
    partial = np.array([with_word_effects(seed, planted=0)[1] for seed in range(200)])
    truth = partial[:, 0].mean()
    covered = ((partial[:, 1] <= truth) & (truth <= partial[:, 2])).mean()
    assert 0.91 <= covered <= 0.98


def test_too_few_words_have_no_interval():
    for n_words, is_sure in ((LEAST_WORDS - 1, False), (LEAST_WORDS, True)):
        first, second = np.random.default_rng(0).normal(size=(2, n_words))
        pairs = word_pairs(np.arange(n_words), np.arange(n_words))
        found = correlation(ranked(first), ranked(second), (), pairs)
        assert found is not None
        assert np.isfinite(found[1:]).all() == is_sure


def test_a_perfect_correlation_has_no_interval_and_a_constant_no_correlation():
    pairs = word_pairs(np.arange(100), np.arange(100))
    rising = ranked(np.arange(100.0))
    perfect = correlation(rising, rising, (), pairs)
    assert perfect is not None
    assert np.isnan(perfect[1:]).all()
    assert correlation(rising, ranked(np.ones(100)), (), pairs) is None


def test_a_perfectly_opposite_order_has_no_interval_whatever_rounding_leaves():
    pairs = word_pairs(np.arange(100), np.arange(100))
    for seed in range(10):
        values = np.random.default_rng(seed).normal(size=100)
        found = correlation(ranked(values), ranked(-values), (), pairs)
        assert found is not None
        assert found.spearman == pytest.approx(-1)
        assert found.spearman > -1 or np.isnan(found[1:]).all()
