"""The lists of pairs, against all pairs sorted and filtered one condition at a time."""

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection
from scipy.stats import t as student

from analysis.measures.pairs.mixing_change import LEAST_DEGREES
from analysis.scopes import EFFECTS, POST_NORM
from analysis.statistics.pairs.changes import with_interval
from pages.token_pairs import ranking
from pages.token_pairs.ranking import listed, tally
from tests.statistics.conftest import Run

of_bert = pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
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
    reach = float(student.ppf(0.975, degrees)) * error
    low, high = mean - reach, mean + reach
    if low > 0:
        return low
    return -high if high < 0 else None


@pytest.fixture(scope="module")
def all_pairs(pair_store) -> pd.DataFrame:
    """Every pair of every layer and effect under the names of the lists, in no order of theirs.

    The errors of some are reduced, so that some are clear of 0; `near` is how far.
    """
    effects = " union all ".join(
        f"select layer, source, target, n, n_sequences, degrees, '{effect}' as effect, "
        f"mean_{effect}::double as mean_delta, std_{effect}::double as std_delta, "
        f"(error_{effect}::double / if((source + target) % 3 = 0, 64, 1)) as standard_error "
        "from pair_delta_wide"
        for effect in POST_NORM.effects
    )
    rows = pair_store.execute(
        f"select of.* exclude (source, target), source as source_id, target as target_id, "
        "s.token as source, t.token as target, pmi::double as pmi, relation, has_special "
        f"from ({effects}) as of join pair using (source, target) "
        "join vocabulary as s on s.token_id = source "
        "join vocabulary as t on t.token_id = target"
    ).df()
    bounds = map(nearer_bound, rows["mean_delta"], rows["standard_error"], rows["degrees"])
    return rows.assign(near=pd.Series([*bounds], dtype=float), size=rows["mean_delta"].abs())


def copy_of(run: Run, folder: Path, *statements: str) -> DuckDBPyConnection:
    """A store with the same numbers except for given changes."""
    path = folder / "copy.duckdb"
    path.write_bytes(run[0].output.read_bytes())
    store = duckdb.connect(str(path))
    for statement in statements:
        store.execute(statement)
    return store


@pytest.fixture(scope="module")
def asked(request, pair_run, tmp_path_factory) -> Iterator[DuckDBPyConnection]:
    """Store with reduced errors of some pairs.

    By parameter it keeps all lists, or so little that lists have to look through all pairs.
    """
    sure = [
        f"update stored.pair_delta set error_{effect} = error_{effect} / 64 {_SURE}"
        for effect in EFFECTS
    ]
    sure.append(f"update stored.pair_extreme set error = error / 64 {_SURE}")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "few":
            sure.append(f"delete from stored.pair_extreme where place > {FEW}")
            patch.setattr(ranking, "KEPT", FEW)
        with copy_of(pair_run, tmp_path_factory.mktemp("asked"), *sure) as store:
            yield store


RANKED = {"mean": ["size"], "bound": ["near", "size"]}


def _expected(rows: pd.DataFrame, order: str, limit: int, *, rank: str, clear: bool):
    """The first of every layer: those without a bound follow all that have one."""
    sign = {"amplified": 1, "attenuated": -1}.get(order)
    rows = rows[(np.sign(rows["mean_delta"]) == sign) | (sign is None)]
    rows = rows[rows["near"].notna()] if clear else rows
    by = ["layer", *RANKED[rank], "source_id", "target_id"]
    rows = rows.sort_values(by, ascending=[name not in RANKED["bound"] for name in by])
    rows = rows.assign(place=rows.groupby("layer").cumcount() + 1)
    rows = with_interval(rows[rows["place"] <= limit])[COLUMNS].reset_index(drop=True)
    return rows.assign(relation=rows["relation"].astype(str))


CHOICES = [
    {"effect": "res_ln", "layers": [2]},
    {"effect": "ff_ln", "min_count": 1},
    {"effect": "ff", "limit": 10**6},
    {"text": "e", "special": False, "min_count": 7},
    {"text": "s", "relation": "special", "limit": 3},
    {"text": ",", "relation": "other_segment", "min_count": 1, "layers": [1]},
    {"text": "a", "limit": 600, "min_count": 1},
    {"min_count": 0, "limit": 40, "layers": [2]},
    {"min_count": 12, "limit": 20},
    {"relation": "special", "special": False},
    {"text": "no token has this"},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("asked", ["all", "few"], indirect=True, scope="module")
@of_bert
def test_lists_are_all_pairs_filtered_and_sorted_slowly(asked, all_pairs, choice):
    choice = {"effect": "ff_res", "layers": [1, 2], "min_count": 2, "limit": 10} | choice
    rows = all_pairs[(all_pairs["effect"] == choice["effect"])]
    rows = rows[(rows["n"] >= choice["min_count"]) & rows["layer"].isin(choice["layers"])]
    tokens = (rows["source"] + "\n" + rows["target"]).str.lower()
    rows = rows[tokens.str.contains(choice.get("text", ""), regex=False)]
    rows = rows[(rows["relation"] == choice.get("relation")) | ("relation" not in choice)]
    rows = rows[~rows["has_special"] | choice.get("special", True)]
    ways = ("bound", False), ("bound", True), ("mean", False)
    for order, (rank, clear) in product(("amplified", "attenuated", "largest"), ways):
        found = ranking.listed(asked, order=order, rank=rank, clear=clear, **choice)
        assert list(found.columns) == COLUMNS
        expected = _expected(rows, order, choice["limit"], rank=rank, clear=clear)
        found = found.assign(relation=found["relation"].astype(str))
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-12)
        if choice["limit"] > 600 and not clear:
            assert (found["low"] * found["high"] <= 0).any(), "some intervals hold 0"
            assert (found["low"] * found["high"] > 0).any(), "some are clear of it"
            assert found["low"].isna().any(), "some pairs have none"


EVERYTHING: Any = {"effect": "ff", "layers": [1], "min_count": 1, "limit": 10**6}
TOKENS = ["50%_o'Clock", "Été", "t", "x", "y"]
OF_TALLIES = ({}, {"text": '"the"', "relation": "adjacent"}, {"special": False, "source": "dog"})


@pytest.fixture(scope="module")
def renamed(pair_run, tmp_path_factory) -> Iterator[DuckDBPyConnection]:
    """The store with five tokens of other names in turn."""
    names = str(TOKENS).replace('"50%_o\'Clock"', "'50%_o''Clock'")
    change = f"update stored.vocabulary set token = ({names})[1 + token_id % 5]"
    with copy_of(pair_run, tmp_path_factory.mktemp("renamed"), change) as store:
        yield store


CLOCK, SUMMER = {"50%_o'Clock"}, {"Été"}


@pytest.mark.parametrize(
    ("texts", "fits"),
    [
        *(({"text": text}, {"text": CLOCK}) for text in ("%", "_", "'")),
        *(({"text": text}, {"text": set()}) for text in ("') or true --", ".*", '"_"', '""')),
        *(({"text": text}, {"text": SUMMER}) for text in ("étÉ", '"été"')),
        ({"text": '"T"'}, {"text": {"t"}}),
        ({"source": "t"}, {"source": SUMMER | {"t"}}),
        ({"target": '"t"'}, {"target": {"t"}}),
        (
            {"source": "T", "target": "T", "text": "é"},
            {"source": SUMMER | {"t"}, "target": SUMMER | {"t"}, "text": SUMMER},
        ),
    ],
)
@of_bert
def test_text_is_looked_for_as_it_is_in_either_token_or_in_one_of_them(renamed, texts, fits):
    every = kept = listed(renamed, **EVERYTHING)
    assert set(every["source"]) == set(TOKENS)
    for side, names in fits.items():
        sides = ["source", "target"] if side == "text" else [side]
        kept = kept[kept[sides].isin(names).any(axis=1)]
    found = listed(renamed, **EVERYTHING | texts)
    assert found["place"].tolist() == list(range(1, len(kept) + 1))
    assert (len(kept) == 0) == (not all(fits.values()))
    same = [column for column in COLUMNS if column != "place"]
    pd.testing.assert_frame_equal(found[same], kept[same].reset_index(drop=True), check_dtype=False)


@of_bert
def test_it_counts_what_a_list_without_an_end_would_hold(pair_store):
    for more, layers in product(OF_TALLIES, ([1], [1, 2])):
        choices = {"effect": "ff", "min_count": 2, "layers": layers, **more}
        found = tally(pair_store, **choices).iloc[0]
        rows = listed(pair_store, limit=10**6, **choices)
        sure, up, down = (
            rows["low"].notna().sum(),
            (rows["low"] > 0).sum(),
            (rows["high"] < 0).sum(),
        )
        assert found["n_pairs"] == len(rows) > 0
        expected = [sure, up, down, up + down]
        names = ["n_sure", "n_amplified", "n_attenuated", "n_clear"]
        assert found[names].tolist() == expected
        if sure:
            assert found["share"] == pytest.approx((up + down) / sure)
