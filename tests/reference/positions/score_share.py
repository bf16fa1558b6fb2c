"""Four terms of every score of one head, and the covariance of each with the score."""

import math

from tests.reference.positions.rotary_plane import score


def score_terms(queries, keys, frequencies, pairs):
    """Terms of each pair's score by position, query, key and content; four numbers per pair.

    Args:
        queries, keys: before they are turned, one list of coordinates per token, of all texts.
        pairs: (query, key, offset), of all texts.
    """
    planes = len(frequencies)
    means = [_mean(side, pairs, place) for place, side in enumerate((queries, keys))]
    terms = []
    for i, j, offset in pairs:
        sides = []
        for side, index, mean in ((queries, i, means[0]), (keys, j, means[1])):
            turned, rest = side[index][: 2 * planes], side[index][2 * planes :]
            deviation = [a - b for a, b in zip(turned, mean, strict=False)]
            sides.append((mean[: 2 * planes], deviation, rest))
        (mean_q, own_q, rest_q), (mean_k, own_k, rest_k) = sides
        unturned = math.fsum(a * b for a, b in zip(rest_q, rest_k, strict=True))
        terms.append(
            (
                score(mean_q, mean_k, frequencies, offset),
                score(own_q, mean_k, frequencies, offset),
                score(mean_q, own_k, frequencies, offset),
                score(own_q, own_k, frequencies, offset) + unturned,
            )
        )
    return terms


def score_shares(terms, rows):
    """Σ d · term / Σ d², with d the sum of a pair's terms less the mean of its row.

    Args:
        rows: the row of each pair.
    """
    scores = [math.fsum(parts) for parts in terms]
    means = {
        row: math.fsum(s for s, place in zip(scores, rows, strict=True) if place == row)
        / rows.count(row)
        for row in set(rows)
    }
    centred = [s - means[row] for s, row in zip(scores, rows, strict=True)]
    spread = math.fsum(d * d for d in centred)
    return [
        math.fsum(d * parts[part] for d, parts in zip(centred, terms, strict=True)) / spread
        for part in range(4)
    ]


def _mean(side, pairs, place):
    columns = zip(*(side[pair[place]] for pair in pairs), strict=True)
    return [math.fsum(column) / len(pairs) for column in columns]
