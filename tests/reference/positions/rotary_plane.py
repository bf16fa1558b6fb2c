"""su-2021, section 3.2.1: every plane of every pair by itself, in complex arithmetic of Python."""

import cmath
import math
from typing import Any


def planes_of(vector, planes):
    """The complex coordinates of one query or key."""
    return [complex(vector[c], vector[c + planes]) for c in range(planes)]


def turns(n_tokens, frequencies):
    """e^(iθp) of every plane, place after place."""
    return [[cmath.exp(1j * theta * place) for theta in frequencies] for place in range(n_tokens)]


def score(query, key, frequencies, offset, *, scaling=1.0):
    """A query and a key before they are turned, and how they are compared at an offset."""
    planes = len(frequencies)
    sides = planes_of(query, planes), planes_of(key, planes)
    turned = (
        (q * k.conjugate() * cmath.exp(-1j * theta * offset)).real
        for q, k, theta in zip(*sides, frequencies, strict=True)
    )
    rest = zip(query[2 * planes :], key[2 * planes :], strict=True)
    return scaling**2 * math.fsum(turned) + math.fsum(a * b for a, b in rest)


def plane_totals(queries, keys, frequencies, pairs, *, scaling=1.0, score_scale=1.0):
    """The sums of one head, pair after pair; what is not turned comes last.

    Args:
        queries, keys: before they are turned, one list of coordinates per token.
        pairs: (i, j) of every query and key that are compared.
    """
    planes = len(frequencies)
    scores = {
        (i, j): score_scale * score(queries[i], keys[j], frequencies, j - i, scaling=scaling)
        for i, j in pairs
    }
    rows = {i: [scores[pair] for pair in pairs if pair[0] == i] for i, _ in pairs}
    centred = {(i, j): scores[i, j] - math.fsum(rows[i]) / len(rows[i]) for i, j in pairs}
    totals = []
    for c, theta in enumerate(frequencies):
        names = ("query", "key", "query_square", "key_square", "turn", "query_turn", "key_turn")
        sums: dict[str, Any] = dict.fromkeys((*names, "score"), 0.0)
        for i, j in pairs:
            q = score_scale * scaling * planes_of(queries[i], planes)[c]
            k = scaling * planes_of(keys[j], planes)[c]
            turn, d = cmath.exp(-1j * theta * (j - i)), centred[i, j]
            sums["query"] += q
            sums["key"] += k
            sums["query_square"] += abs(q) ** 2
            sums["key_square"] += abs(k) ** 2
            sums["turn"] += d * turn
            sums["query_turn"] += d * q * turn
            sums["key_turn"] += d * k.conjugate() * turn
            sums["score"] += d * (q * k.conjugate() * turn).real
        totals.append(sums)
    rest = math.fsum(
        centred[i, j] * score_scale * a * b
        for i, j in pairs
        for a, b in zip(queries[i][2 * planes :], keys[j][2 * planes :], strict=True)
    )
    return totals, rest
