"""clark-2019, section 5: what a parser is trained and scored by, word by word."""

import math

Matrix = list[list[float]]


def loss(scores: Matrix, governors: list[int], scored: list[bool]) -> float:
    """−ln of the share of the governor among all candidates but the word itself, a mean of words.

    The candidates of a word are all columns; a governor that is the word itself is passed over.
    """
    total = 0.0
    for word, row in enumerate(scores):
        if scored[word] and governors[word] != word:
            normaliser = sum(math.exp(score) for place, score in enumerate(row) if place != word)
            total -= math.log(math.exp(row[governors[word]]) / normaliser)
    return total / max(sum(scored), 1)


def right(scores: Matrix, governors: list[int], scored: list[bool]) -> int:
    """Number of scored words whose governor has the first largest score."""
    hits = 0
    for word, row in enumerate(scores):
        candidates = [place for place in range(len(row)) if place != word]
        best = max(candidates, key=lambda place: row[place])
        hits += scored[word] and best == governors[word]
    return hits
