from itertools import product

import pandas as pd
import pytest

from analysis.scopes import EFFECTS, POST_NORM, RELATIONS
from analysis.statistics.fit import FitContext
from analysis.statistics.pairs import pair_extreme
from precompute.passes.pairs import pair_extreme as the_pass

LIST = ["layer", "effect", "amplified", "min_count", "relation"]


@pytest.fixture(scope="module")
def wide(pair_store) -> pd.DataFrame:
    return pair_store.execute("from pair_delta_wide").df()


def _first(wide: pd.DataFrame, layer: int, effect: str, amplified: bool, least: int, relation: int):
    """One list from all pairs, sorted slowly."""
    rows = wide.assign(
        mean=wide[f"mean_{effect}"], std=wide[f"std_{effect}"], error=wide[f"error_{effect}"]
    )
    rows = rows[(rows["layer"] == layer) & (rows["n"] >= least) & (rows["relation"] == relation)]
    rows = rows[rows["mean"] > 0 if amplified else rows["mean"] < 0]
    rows = rows.assign(by=rows["mean"].abs())
    in_order = rows.sort_values(["by", "source", "target"], ascending=[False, True, True])
    columns = [column.name for column in pair_extreme.TABLE.values]
    return in_order[columns].reset_index(drop=True)


@pytest.mark.parametrize(
    ("family", "kept"), [("bert", 7), ("gpt2", pair_extreme.KEPT)], indirect=["family"]
)
def test_every_list_begins_with_what_changes_most(pair_store, wide, monkeypatch, kept):
    monkeypatch.setattr(the_pass, "KEPT", kept)
    extremes = the_pass.fit(
        pair_store, FitContext(seed=0, order=POST_NORM, frequency_ranks={})
    ).to_pandas()
    lists = dict(list(extremes.groupby(LIST, observed=True)))
    counts, relations = pair_extreme.MIN_COUNTS, range(len(RELATIONS))
    for place in product((1, 2), EFFECTS, (True, False), counts, relations):
        expected = _first(wide, *place).head(kept)
        rows = lists.pop(place, None)
        if rows is None:
            assert expected.empty
            continue
        assert rows["place"].tolist() == list(range(1, len(expected) + 1))
        pd.testing.assert_frame_equal(
            rows[list(expected)].reset_index(drop=True), expected, check_dtype=False
        )
    assert not lists


def test_a_model_of_one_layer_has_its_lists(one_layer_store):
    wide, least = one_layer_store.execute("from pair_delta_wide").df(), min(pair_extreme.MIN_COUNTS)
    lists = 0
    for place in product((1,), EFFECTS, (True, False), (least,), range(len(RELATIONS))):
        rows = one_layer_store.execute(
            "select source, target from pair_extreme where layer = $1 and effect = $2 "
            "and amplified = $3 and min_count = $4 and relation = $5 order by place",
            place,
        ).fetchall()
        expected = _first(wide, *place)[["source", "target"]].itertuples(index=False, name=None)
        assert rows == list(expected)[: pair_extreme.KEPT]
        lists += bool(rows)
    assert lists > len(EFFECTS)
