"""Rollout of every scope: against maps multiplied entry by entry, and in a store."""

import numpy as np
import pytest

from analysis.measures.mixing.rollout import DISTANCES, distance_places
from analysis.statistics.mixing import rollout
from analysis.statistics.mixing.rollout import ATTENTION_ROLLOUT
from analysis.token_types import TOKEN_TYPES
from tests.intervals import assert_ordered
from tests.tracing import layers_of, rows_of_table

Matrix = list[list[float]]


def slow_rollout(layers: list[Matrix]) -> Matrix:
    """Shares of the input's tokens in every token after the last of the layers."""
    n = len(layers[0])
    share = [[float(i == j) for j in range(n)] for i in range(n)]
    for matrix in layers:
        rows = [[value / sum(row) for value in row] for row in matrix]
        share = [
            [sum(rows[i][k] * share[k][j] for k in range(n)) for j in range(n)] for i in range(n)
        ]
    return share


def slow_residual(attention: Matrix) -> Matrix:
    """0.5 A + 0.5 I."""
    return [
        [0.5 * weight + 0.5 * (i == j) for j, weight in enumerate(row)]
        for i, row in enumerate(attention)
    ]


def slow_shares(
    product: Matrix, types: list[str], *, causal: bool = False
) -> dict[tuple[str, int], float]:
    """Mean over tokens of what comes from each type at each distance, which doubles from 1 on.

    In a causal model nothing comes from behind, so there are no such places.
    """
    n = len(product)
    sums: dict[tuple[str, int], float] = {}
    for i in range(n):
        for j in range(i + 1 if causal else n):
            edge = 0
            while edge < 64 and abs(i - j) >= max(1, 2 * edge):
                edge = max(1, 2 * edge)
            place = types[j], edge
            sums[place] = sums.get(place, 0) + product[i][j] / n
    return sums


def test_distances_fall_between_their_edges():
    distances = np.array(DISTANCES)[distance_places(200)[0]]
    expected = [next(e for e in reversed(DISTANCES) if e <= d) for d in range(200)]
    assert distances.tolist() == expected


def test_shares_follow_the_slow_twin_for_every_scope_and_the_paper(tiny, sequences):
    rows = rows_of_table(rollout.PER_SEQUENCE, tiny, sequences).to_pandas()
    layers = layers_of(tiny, sequences)
    scopes = layers[0].batch.order.scopes
    assert set(rows["scope"]) == {*scopes, ATTENTION_ROLLOUT}
    for (seq, depth, scope), group in rows.groupby(["seq", "layer", "scope"], observed=True):
        mixing = [layer.mixing_of(seq).maps for layer in layers[: depth + 1]]
        if scope == ATTENTION_ROLLOUT:
            maps = [slow_residual(of[scopes.index("attn_w")].tolist()) for of in mixing]
        else:
            maps = [of[scopes.index(scope)].tolist() for of in mixing]
        types = [TOKEN_TYPES[kind] for kind in sequences[seq].token_types]
        expected = slow_shares(slow_rollout(maps), types, causal=tiny.layers[0].is_causal)
        found = {(row.token_type, row.distance): row.share for row in group.itertuples()}
        assert found == pytest.approx(expected, rel=1e-5)


def test_shares_are_means_over_all_sequences_and_add_up_to_1(masked_store, layer_order):
    for scope in (*layer_order.scopes, ATTENTION_ROLLOUT):
        _assert_means(masked_store, scope)
    scopes = masked_store.execute("select distinct scope from rollout").fetchall()
    assert {scope for (scope,) in scopes} == {*layer_order.scopes, ATTENTION_ROLLOUT}


def _assert_means(masked_store, scope: str) -> None:
    parts, means = (
        masked_store.execute(f"from {table} where scope = $1", [scope]).df()
        for table in ("sequence_rollout", "rollout")
    )
    for name, other in (("token_type", "distance"), ("distance", "token_type")):
        frame = means[means[other].isna()]
        np.testing.assert_allclose(frame.groupby("layer")["mean"].sum(), 1, rtol=1e-5)
        sums = parts.groupby(["layer", name])["share"].sum() / 3
        found = frame.set_index(["layer", name])["mean"]
        np.testing.assert_allclose(found.sort_index(), sums.sort_index(), rtol=1e-5)
        assert_ordered(frame["low"], frame["mean"], frame["high"])


def test_types_and_distances_make_up_each_other(masked_store):
    wrong = masked_store.execute(
        """
        with whole as (
            select layer, scope, token_type, mean from rollout where distance is null
        )
        select count(*) from (
            select layer, scope, token_type, any_value(whole.mean) as mean, sum(cell.mean) as sum
            from whole
            join rollout as cell using (layer, scope, token_type)
            where cell.distance is not null
            group by layer, scope, token_type)
        where abs(mean - sum) > 1e-9
        """
    ).fetchall()
    assert wrong == [(0,)]


def test_every_sequence_counts_in_every_mean(masked_store):
    counts = masked_store.execute("select distinct n_sequences from rollout").fetchall()
    assert counts == [(3,)]
