import numpy as np
from scipy.stats import chisquare

from analysis.measures.norms.attention_norm_sample import SAMPLE, earliest, sample_priorities
from tests.reference.norms.attention_norm_sample import sample_by_priority


def _from_long_sequence(seed: int, n_pairs: tuple[int, int]) -> float:
    """Share of a merged sample that comes from the first of two sequences."""
    drawn = [
        sample_priorities(np.random.default_rng([seed, i]), (1,), np.array([n]))
        for i, n in enumerate(n_pairs)
    ]
    kept = earliest(np.concatenate(drawn, axis=-1))
    return float((kept < SAMPLE).mean())


def _slow_share(seed: int, n_pairs: tuple[int, int]) -> float:
    kept = sample_by_priority(sum(n_pairs), SAMPLE, seed)
    return sum(pair < n_pairs[0] for pair in kept) / SAMPLE


def test_sequences_share_a_sample_in_proportion_to_their_pairs():
    n_pairs = (3000, 1000)
    quick = np.mean([_from_long_sequence(seed, n_pairs) for seed in range(200)])
    slow = np.mean([_slow_share(seed, n_pairs) for seed in range(200)])
    assert abs(quick - 0.75) < 0.01
    assert abs(slow - 0.75) < 0.01


def test_counts_from_the_first_sequence_are_spread_as_chance_spreads_them():
    shares = np.array([_from_long_sequence(seed, (1000, 1000)) for seed in range(400)])
    edges = [-np.inf, 0.45, 0.5, 0.55, np.inf]
    observed = np.histogram(shares, edges)[0]
    twin = np.random.default_rng(9).binomial(SAMPLE, 0.5, size=100_000) / SAMPLE
    expected = np.histogram(twin, edges)[0] * len(shares) / len(twin)
    assert chisquare(observed, expected).pvalue > 1e-4


def test_a_stratum_without_pairs_gives_none():
    priorities = sample_priorities(np.random.default_rng(0), (2,), np.array([0, 5]))
    assert np.isinf(priorities[0]).all()
    assert np.isfinite(priorities[1]).all()


def test_merging_in_any_order_keeps_the_same_pairs():
    drawn = [sample_priorities(np.random.default_rng(i), (1,), np.array([50])) for i in range(3)]

    def kept(parts: list[np.ndarray]) -> set[float]:
        joined = np.concatenate(parts, axis=-1)
        return set(np.take_along_axis(joined, earliest(joined), axis=-1).ravel().tolist())

    first = np.concatenate(drawn[:2], axis=-1)
    step = np.take_along_axis(first, earliest(first), axis=-1)
    assert kept(drawn) == kept(drawn[::-1]) == kept([step, drawn[2]])
