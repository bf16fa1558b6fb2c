"""The lists of pairs, against all pairs sorted and filtered one condition at a time."""

import math
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection
from scipy.stats import t as student

from analysis.errors import UnknownName
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, mean_interval
from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.pairs import pair_delta, pair_ranking
from analysis.statistics.pairs.pair_ranking import ORDERS, RANKS
from tests.intervals import assert_ordered
from tests.refusals import refused
from tests.statistics.pairs.conftest import Run

of_bert = pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
EVERYTHING = {
    "effect": "ff",
    "layer": 1,
    "min_count": 1,
    "text": "",
    "relation": "all",
    "special": True,
    "limit": 10**6,
}
KEY = ["layer", "place", "source_id", "target_id"]
COLUMNS = [
    *(*KEY, "source", "target", "n", "n_sequences", "mean_delta", "std_delta", "low", "high"),
    *("pmi", "relation"),
]
FEW = 4
_SURE = "where (source + target) % 3 = 0"


def nearer_bound(mean: float, error: float, degrees: float) -> float | None:
    """Distance of the interval from 0; None if it holds 0 or does not exist."""
    if math.isnan(degrees) or degrees < LEAST_DEGREES:
        return None
    reach = _quantile(degrees) * error
    low, high = mean - reach, mean + reach
    if low > 0:
        return low
    return -high if high < 0 else None


@cache
def _quantile(degrees: float) -> float:
    return float(student.ppf(0.975, degrees))


def place_in_list(pair: Mapping[Any, Any], order: str, rank: str) -> tuple[Any, ...]:
    """Sort key of a pair in a layer's list, the smallest first."""
    ids = (pair["source_id"], pair["target_id"])
    if order == "frequent":
        return (-pair["n"], *ids)
    size = abs(pair["mean_delta"])
    if rank == "mean":
        return (-size, *ids)
    bound = nearer_bound(pair["mean_delta"], pair["standard_error"], pair["degrees"])
    return (1, -size, *ids) if bound is None else (0, -bound, -size, *ids)


@pytest.fixture(scope="module")
def all_pairs(pair_store, layer_order) -> pd.DataFrame:
    """Every pair of every layer and effect under the names of the lists, in no order of theirs.

    The errors of some are reduced, so that some are clear of 0.
    """
    effects = " union all ".join(
        f"select layer, source, target, n, n_sequences, degrees, '{effect}' as effect, "
        f"mean_{effect}::double as mean_delta, std_{effect}::double as std_delta, "
        f"(error_{effect}::double / if((source + target) % 3 = 0, 64, 1)) as standard_error "
        "from pair_delta_wide"
        for effect in layer_order.effects
    )
    return pair_store.execute(
        f"select of.* exclude (source, target), source as source_id, target as target_id, "
        "s.token as source, t.token as target, pmi::double as pmi, relation, has_special "
        f"from ({effects}) as of join pair using (source, target) "
        "join vocabulary as s on s.token_id = source "
        "join vocabulary as t on t.token_id = target"
    ).df()


def copy_of(run: Run, folder: Path, *statements: str) -> DuckDBPyConnection:
    """A store with the same numbers except for given changes."""
    path = folder / "copy.duckdb"
    path.write_bytes(run[0].output.read_bytes())
    store = duckdb.connect(str(path))
    for statement in statements:
        store.execute(statement)
    return store


every_store = pytest.mark.parametrize(
    ("family", "asked"),
    [
        ("bert", "all lists are kept"),
        pytest.param("bert", "none", marks=pytest.mark.slow),
        ("gpt2", "few"),
    ],
    indirect=True,
    scope="session",
)


@pytest.fixture(scope="module")
def asked(request, pair_run, tmp_path_factory) -> Iterator[DuckDBPyConnection]:
    """Store with reduced errors of some pairs.

    By parameter it keeps all lists, or so little that lists have to scan all pairs.
    """
    folder = tmp_path_factory.mktemp("asked")
    sure = (
        *(
            f"update stored.pair_delta set error_{effect} = error_{effect} / 64 {_SURE}"
            for effect in EFFECTS
        ),
        f"update stored.pair_extreme set error = error / 64 {_SURE}",
    )
    few, none = (
        f"delete from stored.pair_extreme where place > {FEW}",
        "delete from stored.pair_extreme",
    )
    changes = {"few": [few], "none": [none]}.get(request.param, [])
    with copy_of(pair_run, folder, *sure, *changes) as store, pytest.MonkeyPatch.context() as patch:
        if request.param == "few":
            patch.setattr(pair_ranking, "KEPT", FEW)
        yield store


def _expected(
    rows: pd.DataFrame, order: str, limit: int, *, rank: str = "bound", clear: bool = False
) -> pd.DataFrame:
    """The first of every layer, sorted slowly."""
    chosen = []
    for _, of_layer in rows.groupby("layer"):
        pairs = [
            pair
            for pair in of_layer.to_dict("records")
            if _is_listed(pair["mean_delta"], order) and (not clear or _bound(pair) is not None)
        ]
        pairs.sort(key=lambda pair: place_in_list(pair, order, rank))
        chosen += [pair | {"place": place} for place, pair in enumerate(pairs[:limit], start=1)]
    return pd.DataFrame(chosen, columns=[*rows.columns, "place"]).astype(rows.dtypes)


def _is_listed(mean: float, order: str) -> bool:
    return {"amplified": mean > 0, "attenuated": mean < 0}.get(order, True)


def _bound(pair: dict[Any, Any]) -> float | None:
    return nearer_bound(pair["mean_delta"], pair["standard_error"], pair["degrees"])


def _assert_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert list(found.columns) == COLUMNS
    low, high = mean_interval(
        expected["mean_delta"].to_numpy(float),
        expected["standard_error"].to_numpy(float),
        expected["degrees"].to_numpy(float),
    )
    expected = expected.assign(low=low, high=high, relation=expected["relation"].astype(str))
    found = found.assign(relation=found["relation"].astype(str))
    pd.testing.assert_frame_equal(
        found, expected[COLUMNS].reset_index(drop=True), check_dtype=False, rtol=1e-12
    )


@every_store
@pytest.mark.parametrize(
    ("effect", "amplified", "min_count"), list(zip(EFFECTS, cycle((True, False)), cycle((1, 2, 5))))
)
def test_lists_begin_with_what_changes_most(
    asked, all_pairs, layer_order, effect, amplified, min_count
):
    rows = all_pairs[(all_pairs["effect"] == effect) & (all_pairs["n"] >= min_count)]
    order = "amplified" if amplified else "attenuated"
    for rank in RANKS:
        expected = _expected(rows, order, 10, rank=rank)
        choice = {"effect": effect, "amplified": amplified, "min_count": min_count, "rank": rank}
        found = pair_delta.top(asked, layer=None, **choice)
        _assert_same(found, expected)
        there = {1, 2} if effect in layer_order.effects else set()
        assert effect == "res_ln" or set(found["layer"]) == there
        second = pair_delta.top(asked, layer=2, **choice)
        _assert_same(second, expected[expected["layer"] == 2])


@every_store
@pytest.mark.parametrize(("amplified", "limit"), [(True, 10**6), (False, 3)])
def test_pairs_that_are_clear_of_0_come_first_or_alone(asked, all_pairs, amplified, limit):
    rows = all_pairs[(all_pairs["effect"] == "ff") & (all_pairs["n"] >= 2)]
    order = "amplified" if amplified else "attenuated"
    for rank, clear in product(RANKS, (True, False)):
        choice = {"effect": "ff", "amplified": amplified, "limit": limit}
        found = pair_delta.top(asked, layer=None, rank=rank, clear=clear, **choice)
        _assert_same(found, _expected(rows, order, limit, rank=rank, clear=clear))
        is_clear = (found["low"] > 0) | (found["high"] < 0)
        assert is_clear.any() or rank == "mean"
        assert not clear or is_clear.all()
        if rank == "bound":
            assert (is_clear.groupby(found["layer"]).diff() != 1).all()
        if limit > 3 and not clear:
            crosses = (found["low"] <= 0) & (found["high"] >= 0)
            missing = "a kind of interval is missing"
            assert crosses.any(), missing
            assert found["low"].isna().any(), missing


@every_store
def test_the_table_can_be_sorted_four_ways(asked, all_pairs):
    rows = all_pairs[
        (all_pairs["effect"] == "ff_res") & (all_pairs["n"] >= 2) & (all_pairs["layer"] == 1)
    ]
    choice = EVERYTHING | {"effect": "ff_res", "min_count": 2, "limit": 30}
    for order, rank in product(ORDERS, RANKS):
        found = pair_delta.browse(asked, **choice, order=order, rank=rank)
        _assert_same(found, _expected(rows, order, 30, rank=rank))


@every_store
def test_lists_keep_to_a_relation_and_leave_special_tokens_out(asked, all_pairs):
    asked_for = {"effect": "ff", "amplified": True, "layer": None, "min_count": 1}
    for relation, special in [("special", False), *zip(RELATIONS, cycle((True, False)))]:
        rows = all_pairs[(all_pairs["effect"] == "ff") & (all_pairs["relation"] == relation)]
        rows = rows if special else rows[~rows["has_special"]]
        found = pair_delta.top(asked, **asked_for, relation=relation, special=special)
        _assert_same(found, _expected(rows, "amplified", 10))
        assert special or relation != "special" or found.empty


@every_store
@pytest.mark.parametrize(
    "choice",
    [
        {"text": "a", "layer": 1},
        {"text": "t", "min_count": 3},
        {"text": "e", "special": False, "min_count": 7},
        {"text": "s", "relation": "special", "limit": 3},
        {"text": ",", "relation": "other_segment", "min_count": 1, "layer": 1},
        {"text": "a", "limit": 600, "min_count": 1},
        {"min_count": 0, "limit": 40, "layer": 1},
        {"min_count": 12, "limit": 20},
        {"min_count": 10**6},
        {"text": "no token has this"},
    ],
    ids=str,
)
def test_conditions_hold_together(asked, all_pairs, choice):
    choice = {"layer": None} | choice
    rows = all_pairs[
        (all_pairs["effect"] == "ff_res") & (all_pairs["n"] >= choice.get("min_count", 2))
    ]
    tokens = (rows["source"] + "\n" + rows["target"]).str.lower()
    rows = rows[tokens.str.contains(choice.get("text", ""), regex=False)]
    rows = rows[(rows["relation"] == choice.get("relation")) | ("relation" not in choice)]
    rows = rows[~rows["has_special"] | choice.get("special", True)]
    rows = rows[(rows["layer"] == choice["layer"]) | (choice["layer"] is None)]
    for amplified, order in ((True, "amplified"), (False, "attenuated")):
        found = pair_delta.top(asked, effect="ff_res", amplified=amplified, **choice)
        _assert_same(found, _expected(rows, order, choice.get("limit", 10)))


def _equal_means(mean: float) -> tuple[str, str]:
    return f"update stored.pair_delta set mean_ff = {mean}", "delete from stored.pair_extreme"


@of_bert
def test_pairs_of_one_mean_stand_in_the_order_of_their_tokens(pair_run, tmp_path):
    with copy_of(pair_run, tmp_path, *_equal_means(0.5)) as store:
        asked = {"effect": "ff", "amplified": True, "layer": 2, "min_count": 1, "rank": "mean"}
        pairs = pair_delta.top(store, **asked, limit=40)
        ids = list(zip(pairs["source_id"], pairs["target_id"], strict=True))
        assert ids == sorted(ids)
        assert len(ids) == 40
        again = pair_delta.top(store, **asked, limit=7)
        assert list(zip(again["source_id"], again["target_id"], strict=True)) == ids[:7]


@of_bert
def test_pairs_without_change_are_in_neither_list(pair_run, tmp_path):
    with copy_of(pair_run, tmp_path, *_equal_means(0)) as store:
        for amplified in (True, False):
            assert pair_delta.top(store, effect="ff", amplified=amplified, layer=None).empty


def test_the_bound_of_a_query_is_that_of_the_interval():
    """Degrees of freedom are arbitrary; pairs whose interval holds 0 have no bound."""
    degrees = np.concatenate(
        [[0.5, 1.09, 1.1], np.linspace(1.1, 3, 500), np.geomspace(3, 1e6, 500)]
    )
    pairs = pd.DataFrame({"degrees": degrees, "error": 0.01}).assign(mean=-0.024)
    with duckdb.connect() as store:
        store.register("pairs", pairs)
        bounds = store.execute(
            f"select {pair_ranking.DISTANCE_FROM_ZERO_SQL} as near from pairs"
        ).df()["near"]
    expected = [nearer_bound(-0.024, 0.01, degree) for degree in degrees]
    np.testing.assert_allclose(bounds, np.array(expected, dtype=float), rtol=0, atol=1e-11)
    assert 0 < bounds.isna().sum() < len(bounds)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            {"effect": "ff; drop"},
            "No effect is called 'ff; drop'. Known: ff, ff_ln, ff_res, ln_res, ln_res_ln, res_ln.",
        ),
        (
            {"relation": "adjacant"},
            "No relation is called 'adjacant'. Did you mean 'adjacent'? Known: adjacent, all, "
            "other_segment, same_segment, same_word, special, word_pieces.",
        ),
        (
            {"order": "n"},
            "No order is called 'n'. Known: amplified, attenuated, frequent, largest.",
        ),
    ],
)
@of_bert
def test_a_name_that_nothing_goes_by_is_refused(pair_store, choice, message):
    asked = EVERYTHING | choice
    assert refused(UnknownName, pair_delta.browse, pair_store, **asked) == message


def test_one_pair_has_a_row_for_every_layer_and_effect(pair_store, all_pairs, layer_order):
    listed = all_pairs.sort_values("n").iloc[-1]
    rows = pair_delta.of_pair(
        pair_store, source_id=int(listed["source_id"]), target_id=int(listed["target_id"])
    )
    assert list(rows[["layer", "effect"]].itertuples(index=False, name=None)) == list(
        product((1, 2), layer_order.effects)
    )
    same = all_pairs.merge(rows[["layer", "effect", "mean_delta", "std_delta", "n", "n_sequences"]])
    assert len(same) == len(rows)
    assert_ordered(rows["low"], rows["mean_delta"], rows["high"])
    none = pair_delta.of_pair(pair_store, source_id=-1, target_id=-1)
    assert none.empty
    assert list(none.columns) == list(rows.columns)
