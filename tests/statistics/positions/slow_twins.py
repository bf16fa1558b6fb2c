"""Slow twins that several tests share: one pair of tokens, one wave, one plane at a time."""

import cmath
import math

import numpy as np


def diagonal_sum(matrix, offset):
    """The sum of the elements (i, i + offset)."""
    n = len(matrix)
    return math.fsum(matrix[i][i + offset] for i in range(n) if 0 <= i + offset < n)


def position_dependence(matrix, *, is_causal, window=None):
    """Variance of the means by offset over the variance of all elements, or None if that is 0."""
    by_offset = {}
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            near = window is None or abs(j - i) <= window
            if near and (j <= i or not is_causal):
                by_offset.setdefault(j - i, []).append(value)
    every = [value for values in by_offset.values() for value in values]
    mean = math.fsum(every) / len(every)
    total = math.fsum((value - mean) ** 2 for value in every)
    between = math.fsum(
        len(values) * (math.fsum(values) / len(values) - mean) ** 2 for values in by_offset.values()
    )
    return between / total if total > 1e-12 else None


def row_centred(scores, *, is_causal, window=None):
    """Each score less the mean of those of its row that its query sees."""
    rows = []
    for i, row in enumerate(scores):
        places = range(i + 1 if is_causal else len(row))
        seen = [row[j] for j in places if window is None or abs(i - j) <= window]
        rows.append([score - math.fsum(seen) / len(seen) for score in row])
    return rows


def raw_scores(inputs, weights, head):
    """(X W_Q + b_Q)(X W_K + b_K)ᵀ of one head."""
    inputs = np.asarray(inputs, dtype=np.float64)
    queries, keys = (
        inputs @ getattr(weights, f"{side}_weight")[head].double().numpy()
        + getattr(weights, f"{side}_bias")[head].double().numpy()
        for side in ("query", "key")
    )
    return queries @ keys.T


def amplitude(wave, k):
    """|Σ_t wave(t) e^(−2πikt/T)|."""
    n = len(wave)
    return abs(sum(value * cmath.exp(-2j * math.pi * k * t / n) for t, value in enumerate(wave)))


def spread(waves):
    """Mean, quartiles and largest amplitude of the waves, by coefficient."""
    rows = []
    for k in range(len(waves[0]) // 2 + 1):
        amplitudes = [amplitude(wave, k) for wave in waves]
        quartiles = np.quantile(amplitudes, [0.25, 0.75])
        rows.append([np.mean(amplitudes), *quartiles, max(amplitudes)])
    return np.array(rows)


def state_waves(inputs, factors):
    """The columns of X, of [X 1] · query and of [X 1] · key, as lists of numbers."""
    inputs = np.asarray(inputs, dtype=np.float64)
    extended = np.hstack([inputs, np.ones((len(inputs), 1))])
    waves = {"hidden": inputs.T.tolist()}
    for side in ("query", "key"):
        directions = getattr(factors, side).double().numpy()
        waves[side] = [wave.tolist() for head in directions for wave in (extended @ head).T]
    return waves


def dense_form(weights):
    """Per head W_A itself and its dense U, s, V, null spaces included."""
    factors = []
    for head in range(len(weights.query_weight)):
        queries, keys = (
            _affine(
                getattr(weights, f"{side}_weight")[head], getattr(weights, f"{side}_bias")[head]
            )
            for side in ("query", "key")
        )
        product = queries @ keys.T
        left, values, right = np.linalg.svd(product)
        factors.append((product, left, values, right.T))
    return factors


def _affine(weight, bias):
    """A projection with its bias as the last row."""
    return np.vstack([weight, bias[None]]).astype(np.float64)


def nearest_rotation(left, values, right):
    """The orthogonal T with T u_j = v_j that is nearest the identity, as a whole matrix.

    Args:
        left, right: square orthogonal matrices as a dense decomposition gives them; columns beyond
            the values that count are any basis of the null spaces.
    """
    rank = int(np.sum(values > 1e-6 * values[0]))
    known = right[:, :rank] @ left[:, :rank].T
    left_null, right_null = left[:, rank:], right[:, rank:]
    # max over orthogonal M of tr(right_null M left_nullᵀ)
    a, _, b = np.linalg.svd(right_null.T @ left_null)
    return known + right_null @ a @ b @ left_null.T


def planes_of(vector, planes):
    """The complex coordinates of one query or key."""
    return [complex(vector[c], vector[c + planes]) for c in range(planes)]


def turned_score(query, key, frequencies, offset, *, scaling=1.0):
    """A query and a key before they are turned, and how they are compared at an offset."""
    planes = len(frequencies)
    sides = planes_of(query, planes), planes_of(key, planes)
    turned = (
        (q * k.conjugate() * cmath.exp(-1j * theta * offset)).real
        for q, k, theta in zip(*sides, frequencies, strict=True)
    )
    rest = zip(query[2 * planes :], key[2 * planes :], strict=True)
    return scaling**2 * math.fsum(turned) + math.fsum(a * b for a, b in rest)


def position_kernel(means, frequencies, offset):
    """Σ_c |m_c| cos(arg m_c − θ_c t)."""
    return math.fsum(
        abs(m) * math.cos(math.atan2(m.imag, m.real) - theta * offset)
        for m, theta in zip(means, frequencies, strict=True)
    )


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
