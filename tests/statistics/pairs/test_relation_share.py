"""Relations of two tokens, changes put down to them pair by pair, and their shares."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from analysis.measures.bootstrap import LEAST_UNITS, Redraws, redraws
from analysis.measures.pairs.token_relation import mean_ratios, relation_changes, token_relations
from analysis.scopes import POST_NORM, RELATIONS
from analysis.statistics.pairs.relations import SEQUENCE_RELATION_CHANGE
from tests.tiny import BOTH_WAYS
from tests.tracing import layers_of, rows_of_table


def slow_changes(
    before: list[list[float]], after: list[list[float]], relations: np.ndarray, seen: np.ndarray
) -> dict[str, tuple[int, float, float, float]]:
    """Sums by relation: pairs, Σ share before, Σ |δ|, Σ of the δ above 0."""
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))
    for query, key in product(range(len(before)), repeat=2):
        if query != key and seen[query, key]:
            held, then = (norms[query][key] / sum(norms[query]) for norms in (before, after))
            change = then - held
            sums[RELATIONS[relations[query, key]]] += (1, held, abs(change), max(change, 0))
    return {name: tuple(of_relation) for name, of_relation in sums.items()}


def _relations(ids: list[int], words: list[int], segments: list[int]) -> list[list[str]]:
    rows = token_relations(np.array(ids), np.array(words), np.array(segments, dtype=np.uint8))
    assert (rows == rows.T).all()
    return [[RELATIONS[place] for place in row] for row in rows]


def test_the_first_relation_that_fits_is_taken():
    # [CLS] det ##our a det [SEP] b b
    named = _relations([101, 7, 8, 9, 7, 102, 5, 5], [-1, 0, 0, 1, 2, -1, 3, 3], [0] * 6 + [1] * 2)
    assert named[1] == [
        "special",
        "same_word",
        "word_pieces",
        "same_segment",
        "same_word",
        "special",
        "other_segment",
        "other_segment",
    ]
    assert named[2][3] == named[3][2] == "adjacent"
    assert named[6][7] == "same_word"  # pieces of one word, side by side
    assert named[0][5] == named[0][0] == "special"
    assert _relations([1, 2], [0, 1], [0, 1])[0][1] == "adjacent"


@pytest.mark.parametrize(
    "family", [*BOTH_WAYS, "gemma2", "gpt_neox"], indirect=True, scope="session"
)
def test_changes_follow_the_maps_before_and_after_each_effect(tiny, sequences, layer_order):
    rows = rows_of_table(SEQUENCE_RELATION_CHANGE, tiny, sequences).to_pandas()
    found = {tuple(row[:4]): row[4:] for row in rows.itertuples(index=False, name=None)}
    assert len(found) == len(rows)
    for layer, (number, sequence) in product(layers_of(tiny, sequences), enumerate(sequences)):
        norms = dict(
            zip(layer_order.scopes, layer.mixing[number].maps.double().tolist(), strict=True)
        )
        relations, seen = layer.batch.relations[number], layer.weights.pairs(len(sequence)).numpy()
        for effect, (before, after) in layer_order.effects.items():
            expected = slow_changes(norms[before], norms[after], relations, seen)
            for relation, numbers in expected.items():
                row = found.pop((layer.weights.number, effect, relation, sequence.index))
                assert row == pytest.approx(numbers, rel=1e-4, abs=1e-6)
    assert not found


def test_of_one_token_no_change_is_put_down_to_a_relation():
    maps = np.ones((len(POST_NORM.scopes), 1, 1))
    relations, seen = np.zeros((1, 1), dtype=np.int8), np.ones((1, 1), dtype=bool)
    n, sums = relation_changes(maps, POST_NORM, relations, seen)
    assert n.sum() == sums.sum() == 0
    assert sums.shape == (3, len(POST_NORM.effects), len(RELATIONS))


@pytest.fixture(scope="module")
def shares(pair_store) -> dict[tuple[int, str, str], list[dict[str, float | None]]]:
    """Shares of the relations of every sequence with something to share, by quantity.

    Sequences without mixing before the step have None.
    """
    amounts: dict = defaultdict(lambda: defaultdict(dict))
    rows = pair_store.execute("from sequence_relation_change order by all").fetchall()
    for layer, effect, relation, seq, n, before, change, gain in rows:
        quantities = (n, before, change, gain, change - gain)
        names = ("pairs", "before", "change", "gain", "loss")
        for name, amount in zip(names, quantities, strict=True):
            amounts[layer, effect, name][seq][relation] = amount
    return {cell: list(map(_shares, of.values())) for cell, of in amounts.items()}


def _shares(amounts: dict[str, float]) -> dict[str, float | None]:
    total = sum(amounts.values())
    return {name: amount / total if total else None for name, amount in amounts.items()}


def test_shares_and_ratios_are_means_over_sequences_in_which_there_is_something_to_share(
    pair_store, shares
):
    rows = pair_store.execute("from relation_share").df()
    filled = {cell for cell, of in shares.items() if any(None not in s.values() for s in of)}
    assert set(zip(rows["layer"], rows["effect"], rows["quantity"], strict=True)) == filled
    assert rows[["ratio_low", "ratio_high"]].isna().all(axis=None)  # fewer than 10 sequences
    for row in rows.itertuples():
        here, before = (
            [of.get(row.relation, 0) for of in shares[row.layer, row.effect, name]]
            for name in (row.quantity, "before")
        )
        of = [share for share in here if share is not None]
        assert row.mean == pytest.approx(np.mean(of), rel=1e-9)
        assert row.n_sequences == len(of)
        both = [pair for pair in zip(here, before, strict=True) if None not in pair]
        above, below = np.sum(np.array(both, dtype=float), axis=0)
        is_compared = below > 0 and row.quantity not in ("pairs", "before")
        assert row.ratio == pytest.approx(above / below if is_compared else np.nan, nan_ok=True)
    of_all = rows.groupby(["layer", "effect", "quantity"], observed=True)["mean"].sum()
    np.testing.assert_allclose(of_all, 1)


def _drawn(n_sequences: int) -> Redraws:
    return redraws(np.arange(n_sequences), seed=0)


def test_a_ratio_is_that_of_the_means_over_sequences_with_both_shares():
    shares = np.array([0.2, 0.4, np.nan, 0.9])[:, None]
    before = np.array([0.1, 0.3, 0.5, np.nan])[:, None]
    assert mean_ratios(shares, before, _drawn(4))[0] == pytest.approx([0.6 / 0.4])


@pytest.mark.parametrize("n", [LEAST_UNITS - 1, LEAST_UNITS])
def test_too_few_sequences_have_a_ratio_and_no_interval(n):
    values = np.random.default_rng(0).uniform(0.1, 0.9, size=(2, n, 1))
    ratio, low, high = mean_ratios(values[0], values[1], _drawn(n))
    assert np.isfinite(ratio).all()
    assert np.isfinite([low, high]).all() == (n >= LEAST_UNITS)


def test_a_relation_that_holds_nothing_before_has_no_ratio():
    before = np.stack([np.zeros(30), np.full(30, np.nan), np.full(30, 0.25)], axis=1)
    for _ in range(3):  # memory that nothing was written to may hold anything
        for ends in mean_ratios(np.full((30, 3), 0.5), before, _drawn(30)):
            assert np.isnan(ends).tolist() == [True, True, False]
            assert ends[2] == 2
