"""he-2021, eq. 4, and raffel-2020, section 2.1: every pair of one head, term after term."""

import math


def dot(one, other):
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def score_terms(query, key, offset, tables, *, scale):
    """Terms of one pair's score: content, query, key and bias.

    Args:
        tables: vectors compared with queries and with keys, and the bias, each by offset.
    """
    of_queries, of_keys, bias = tables
    parts = (dot(query, key), dot(query, of_queries[offset]), dot(key, of_keys[offset]))
    return *(scale * part for part in parts), scale * bias[offset]


def offset_kernel(queries, keys, pairs, offset, tables, *, scale):
    """E q · P_t + E k · R_t + b_t, means over pairs (i, j)."""
    of_queries, of_keys, bias = tables
    means = [
        [math.fsum(column) / len(pairs) for column in zip(*side, strict=True)]
        for side in ([queries[i] for i, _ in pairs], [keys[j] for _, j in pairs])
    ]
    return scale * (
        dot(means[0], of_queries[offset]) + dot(means[1], of_keys[offset]) + bias[offset]
    )


def four_terms(queries, keys, pairs, tables, *, scale):
    """Terms of each pair's score by position, query, key and content; four numbers per pair.

    Args:
        queries, keys: one list of coordinates per token, of all texts.
        pairs: (query, key, offset), of all texts.
    """
    bare = [(i, j) for i, j, _ in pairs]
    rows = []
    for i, j, offset in pairs:
        content, of_query, of_key, bias = score_terms(
            queries[i], keys[j], offset, tables, scale=scale
        )
        position = offset_kernel(queries, keys, bare, offset, tables, scale=scale)
        mean_query = offset_kernel(queries, keys, bare, offset, _only(tables, 0), scale=scale)
        mean_key = offset_kernel(queries, keys, bare, offset, _only(tables, 1), scale=scale)
        assert math.isclose(position, mean_query + mean_key + bias, abs_tol=1e-9)
        rows.append((position, of_query - mean_query, of_key - mean_key, content))
    return rows


def _only(tables, place):
    """The tables with all but one replaced by 0."""
    of_queries, of_keys, bias = tables
    nothing = {offset: [0.0] * len(row) for offset, row in of_queries.items()}
    return (
        of_queries if place == 0 else nothing,
        of_keys if place == 1 else nothing,
        dict.fromkeys(bias, 0.0),
    )
