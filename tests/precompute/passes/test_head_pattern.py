"""Habits in a store built by the real passes, against the twin, text by text."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.habits import HABITS, QUANTITIES
from analysis.tables import head_pattern, sequence_head_pattern
from precompute.check import faults
from precompute.corpora.sequence import TOKEN_TYPES
from precompute.load_models import load_model
from precompute.plan import Plan
from precompute.run import Request, run
from precompute.runner import run_local
from precompute.show import every_table
from tests.reference import sequence_head_pattern as twin
from tests.small_store import request as asked_for


@pytest.fixture(scope="module")
def habit_run(tmp_path_factory, family) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp(f"habits-{family}")
    asked = asked_for(folder, family, statistics=["head_pattern", "token_type_mixing"])
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def store(habit_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(habit_run[0].output), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def slow(habit_run, is_causal) -> pd.DataFrame:
    """Every habit of every head and text, as the twin counts it; NaN where there is none."""
    asked, plan = habit_run
    model = load_model(asked.model, device="cpu")
    rows = []
    for sequence in plan.corpus.sequences:
        types = [TOKEN_TYPES[each] for each in sequence.token_types]
        for layer, traced in enumerate(model.trace([sequence]).layers, start=1):
            for head, attention in enumerate(traced.attention[0].double().tolist(), start=1):
                place = {"seq": sequence.index, "layer": layer, "head": head}
                rows.append(place | twin.pattern(attention, types, is_causal=is_causal))
    return pd.DataFrame(rows).astype(dict.fromkeys(QUANTITIES, float))


def test_every_text_has_the_habits_of_the_twin(store, slow, habit_run):
    found = store.execute("from sequence_head_pattern order by seq, layer, head").df()
    assert found["n_tokens"].tolist() == [
        len(each) for each in habit_run[1].corpus.sequences for _ in range(2 * 3)
    ]
    for name in QUANTITIES:
        np.testing.assert_allclose(
            found[name].astype(float), slow[name], rtol=1e-5, atol=1e-6, err_msg=name
        )


def test_every_head_is_the_mean_over_the_texts_that_have_it(store, slow):
    expected = slow.groupby(["layer", "head"])[list(QUANTITIES)].agg(["mean", "count"])
    n_rows = 0
    for (layer, head), row in expected.iterrows():
        of_head = head_pattern.of_head(store, layer=layer, head=head)
        there = [name for name in QUANTITIES if row[name]["count"]]
        assert of_head["quantity"].tolist() == there
        np.testing.assert_allclose(of_head["mean"], [row[q]["mean"] for q in there], rtol=1e-5)
        assert of_head["n_sequences"].tolist() == [row[q]["count"] for q in there]
        ordered = of_head[["low", "mean", "high"]].to_numpy()
        assert (np.diff(ordered) >= -1e-9).all()
        n_rows += len(of_head)
    assert len(head_pattern.heads(store)) == n_rows


def test_every_layer_is_the_mean_of_its_heads(store, slow):
    of_layers = head_pattern.by_layer(store)
    expected = slow.groupby("layer")[list(QUANTITIES)].mean().stack().dropna().to_dict()
    found = of_layers.set_index(["layer", "quantity"])["mean"].to_dict()
    assert found == pytest.approx(expected, rel=1e-5)
    assert (of_layers["low"] <= of_layers["high"]).all()


def test_the_wide_view_says_the_same_as_the_long_one(store):
    wide = store.execute("from head_pattern").df()
    assert wide.columns.tolist() == ["layer", "head", *HABITS]
    long = wide.melt(["layer", "head"], var_name="quantity", value_name="mean").dropna()
    told = head_pattern.heads(store)
    told = told[told["quantity"] != "uniform"]
    both = long.merge(told, on=["layer", "head", "quantity"], suffixes=("", "_told"))
    assert len(both) == len(long) == len(told)
    assert (both["mean"] == both["mean_told"]).all()


def test_what_a_text_cannot_have_is_absent(store, tiny, is_causal):
    there = set(head_pattern.by_layer(store)["quantity"])
    assert ("next" in there) == (not is_causal)
    kinds = {name for (name,) in store.execute("select distinct token_type from token").fetchall()}
    assert {"cls", "sep", "comma_period"} & there == {"cls", "sep", "comma_period"} & kinds


def test_the_texts_in_which_a_head_does_something_most_come_first(store, slow):
    found = sequence_head_pattern.extremes(store, layer=2, head=1, quantity="previous", limit=2)
    of_head = slow[(slow["layer"] == 2) & (slow["head"] == 1)].nlargest(2, "previous")
    assert found["seq"].tolist() == of_head["seq"].tolist()
    np.testing.assert_allclose(found["value"], of_head["previous"], rtol=1e-5)
    texts = dict(store.execute("select seq, text from sequence").fetchall())
    assert found["text"].tolist() == [texts[seq] for seq in found["seq"]]
    with pytest.raises(UnknownName, match=r"No habit is called 'nxt'. Did you mean 'next'?"):
        sequence_head_pattern.extremes(store, layer=1, head=1, quantity="nxt", limit=1)


def test_the_file_is_whole_and_sound(habit_run):
    assert list(faults(habit_run[0].output, every_table())) == []


def test_weights_to_types_are_counted_alike_by_head_and_by_token(habit_run, tmp_path):
    """The law between the tables can fail: a habit that is off by a thousandth is told."""
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(habit_run[0].output.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        connection.execute(
            "update stored.sequence_head_pattern set comma_period = comma_period + 0.01 "
            "where seq = 0 and layer = 1"
        )
    told = list(faults(copy, every_table()))
    assert any("weights to a token type are the same" in each for each in told), told
