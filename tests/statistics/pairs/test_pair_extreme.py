"""Lists of the pairs that change most, against all pairs sorted slowly."""

from itertools import product

import pandas as pd
import pytest

from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.pairs import changes
from analysis.statistics.pairs.changes import KEPT, MIN_COUNTS, PAIR_EXTREME
from tests.statistics.fits import made

LIST = ["layer", "effect", "amplified", "min_count", "relation"]


def _first(wide: pd.DataFrame, layer: int, effect: str, amplified: bool, least: int, relation: int):
    """One list from all pairs, sorted slowly."""
    rows = wide.assign(
        mean=wide[f"mean_{effect}"], std=wide[f"std_{effect}"], error=wide[f"error_{effect}"]
    )
    rows = rows[(rows["layer"] == layer) & (rows["n"] >= least) & (rows["relation"] == relation)]
    rows = rows[rows["mean"] > 0 if amplified else rows["mean"] < 0]
    rows = rows.assign(by=rows["mean"].abs())
    in_order = rows.sort_values(["by", "source", "target"], ascending=[False, True, True])
    columns = list(PAIR_EXTREME.values)
    return in_order[columns].reset_index(drop=True)


@pytest.mark.parametrize(("family", "kept"), [("bert", 7), ("gpt2", KEPT)], indirect=["family"])
def test_every_list_begins_with_what_changes_most(pair_store, monkeypatch, kept):
    monkeypatch.setattr(changes, "KEPT", kept)
    wide = pair_store.execute("from pair_delta_wide").df()
    lists = dict(list(made(PAIR_EXTREME, pair_store).groupby(LIST, observed=True)))
    counts, relations = MIN_COUNTS, range(len(RELATIONS))
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
