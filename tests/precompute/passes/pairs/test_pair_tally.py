"""Tally of the pairs that a list is chosen from, against the list without a limit."""

import duckdb
import pytest

from analysis.errors import UnknownName
from analysis.statistics.pairs import pair_delta
from analysis.statistics.pairs.pair_tally import tally
from tests.shared_store import shared_store

EVERY = 10**6
CHOICES = (
    {},
    {"text": "the"},
    {"text": '"the"', "relation": "adjacent"},
    {"special": False, "source": "dog"},
    {"target": "cat", "min_count": 4},
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = shared_store(tmp_path_factory)
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


@pytest.mark.parametrize("more", CHOICES)
@pytest.mark.parametrize("layers", [[1], [1, 2]])
def test_it_counts_what_a_list_without_an_end_would_hold(more, layers, store):
    choices = {"effect": "ff", "min_count": 2, "text": "", "relation": "all", "special": True}
    choices |= more
    found = tally(store, layers=layers, **choices).iloc[0]
    lists = [pair_delta.browse(store, layer=layer, limit=EVERY, **choices) for layer in layers]
    assert found["n_pairs"] == sum(map(len, lists)) > 0
    assert found["n_sure"] == sum(int(rows["low"].notna().sum()) for rows in lists)
    assert found["n_amplified"] == sum(int((rows["low"] > 0).sum()) for rows in lists)
    assert found["n_attenuated"] == sum(int((rows["high"] < 0).sum()) for rows in lists)
    assert found["n_clear"] == found["n_amplified"] + found["n_attenuated"]
    if found["n_sure"]:
        assert found["share"] == pytest.approx(found["n_clear"] / found["n_sure"])


def test_a_relation_that_there_is_not_is_refused(store):
    with pytest.raises(UnknownName, match="relation"):
        tally(store, effect="ff", layers=[1], min_count=2, relation="none such")
