"""Coverage of the interval of partial ρ if words have effects of their own.

    python -m tests.tools.benchmarks.accuracy.pmi_coverage [--draws 300]

Draws Zipfian texts, the PMI of their pairs, and changes that follow word frequencies and effects of
single words but not PMI. The truth is the mean of ρ over all draws. An interval that takes pairs as
independent is printed for comparison.
"""

import argparse

import numpy as np

from analysis.measures.pairs.rank_correlation import correlation, ranked, word_pairs
from tests.statistics.pairs.counted import pmi_of_pairs

SETTINGS = (  # words, texts, greatest distance, effects of single words
    (300, 20, 50, 0.0),
    (300, 20, 50, 1.0),
    (300, 20, 50, 3.0),
    (300, 20, 5, 1.0),
    (600, 40, 1, 1.0),
)
LENGTH = 50


def draw(generator: np.random.Generator, setting: tuple[int, int, int, float]) -> tuple:
    """ρ with its interval, the interval of independent pairs, pairs and words."""
    n_words, n_texts, distance, of_words = setting
    odds = 1 / (np.arange(n_words) + 2.7)
    texts = generator.choice(n_words, size=(n_texts, LENGTH), p=odds / odds.sum())
    places = np.arange(LENGTH)
    apart = np.abs(places[:, None] - places)
    target, source = np.nonzero((apart > 0) & (apart <= distance))
    pairs, n = np.unique(texts[:, source] * n_words + texts[:, target], return_counts=True)
    pmi = pmi_of_pairs(n, pairs // n_words, pairs % n_words)[n > 1]
    source, target = np.divmod(pairs[n > 1], n_words)
    of_word = generator.normal(size=(4, n_words))
    pmi = pmi + (of_word[0][source] + of_word[1][target]) * pmi.std() / 2
    counts = np.bincount(texts.ravel(), minlength=n_words)
    first, *given = (ranked(values) for values in (pmi, counts[source], counts[target]))
    change = sum(ranks.rank / ranks.rank.std() for ranks in given)
    change = change + of_words * (of_word[2][source] + of_word[3][target])
    second = ranked(change + generator.normal(size=len(source)))
    shared = word_pairs(source, target)
    alone = np.arange(len(source))
    separate = word_pairs(alone, alone + len(source))
    found, naive = (correlation(first, second, tuple(given), words) for words in (shared, separate))
    assert found is not None
    assert naive is not None
    return *found, *naive[1:], len(source), shared.n_words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=300)
    n_draws = parser.parse_args().draws
    for setting in SETTINGS:
        draws = np.array([draw(np.random.default_rng(seed), setting) for seed in range(n_draws)])
        truth = draws[:, 0].mean()
        stored, naive = (
            100 * ((draws[:, low] <= truth) & (truth <= draws[:, low + 1])).mean() for low in (1, 3)
        )
        n_pairs, n_words = draws[:, 5:].mean(axis=0)
        print(
            f"{n_pairs:6.0f} pairs of {n_words:4.0f} words within {setting[2]:2}, effects of words "
            f"{setting[3]:.0f}: ρ {truth:+.3f}, covered {stored:.0f} %, independent {naive:.0f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
