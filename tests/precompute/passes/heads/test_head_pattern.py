"""Habits in a store built by the real passes, against the twin, text by text."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.error_limits import LIMITS
from analysis.errors import UnknownName
from analysis.habits import HABITS, QUANTITIES
from analysis.measures.bootstrap import redraws
from analysis.statistics.heads import head_pattern, head_pattern_difference, sequence_head_pattern
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.token_types import TOKEN_TYPES
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.run import Request, run
from precompute.store.cross_laws import CROSS_LAWS
from tests.reference.heads import sequence_head_pattern as twin
from tests.reference.transformed_vectors import of_trace
from tests.small_store import TEXT
from tests.small_store import request as asked_for

STATISTICS = ["head_pattern_difference", "token_type_mixing"]
every_weighing = pytest.mark.parametrize("weighing", WEIGHINGS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, family) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp(f"habits-{family}")
    asked = asked_for(folder, family, statistics=STATISTICS)
    texts = [TEXT] * 4 + ["The dog sat\n"]  # intervals need ten, one of them without a period
    Path(str(asked.corpus)).write_text("\n".join(texts), encoding="utf-8")
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def by_both(finished, is_causal) -> pd.DataFrame:
    """Every habit of every head and text, as the twin counts it; NaN where there is none."""
    asked, plan = finished
    model = load_model(asked.model, device="cpu")
    rows = []
    for sequence in plan.corpus:
        types = [TOKEN_TYPES[kind] for kind in sequence.token_types]
        for weighing, maps in of_trace(model.trace([sequence])).items():
            for place, attention in maps.items():
                key = dict(zip(("layer", "head"), place, strict=True))
                habits = twin.pattern(attention, types, is_causal=is_causal)
                rows.append({"weighing": weighing, "seq": sequence.index} | key | habits)
    frame = pd.DataFrame(rows).astype(dict.fromkeys(QUANTITIES, float))
    return frame.sort_values(["weighing", "seq", "layer", "head"], ignore_index=True)


def _with_zeros(rows: pd.DataFrame) -> pd.DataFrame:
    """Values as means use them: attention to a type without tokens in a text is 0."""
    had = [name for name in ("first", "cls", "sep", "comma_period") if rows[name].notna().any()]
    return rows.fillna(dict.fromkeys(had, 0.0))


@pytest.fixture(scope="module")
def slow(by_both) -> pd.DataFrame:
    """Habits by weights alone, text by text."""
    return by_both[by_both["weighing"] == "weight"].reset_index(drop=True)


def test_every_text_has_the_habits_of_the_twin_by_weights_and_by_norms(store, by_both):
    rows = store.execute(
        "from sequence_head_pattern_weighing order by weighing::varchar, seq, layer, head"
    ).df()
    assert set(rows["weighing"]) == set(WEIGHINGS)
    assert rows[["seq", "layer", "head"]].equals(
        by_both[["seq", "layer", "head"]].astype(rows.dtypes[["seq", "layer", "head"]])
    )
    for name in QUANTITIES:
        np.testing.assert_allclose(
            rows[name].astype(float), by_both[name], rtol=1e-5, atol=1e-6, err_msg=name
        )


def test_views_without_a_weighing_are_of_weights(store, slow, finished):
    rows = store.execute("from sequence_head_pattern order by seq, layer, head").df()
    assert rows["n_tokens"].tolist() == [
        len(sequence) for sequence in finished[1].corpus for _ in range(2 * 3)
    ]
    for name in QUANTITIES:
        np.testing.assert_allclose(
            rows[name].astype(float), slow[name], rtol=1e-5, atol=1e-6, err_msg=name
        )


@every_weighing
def test_every_head_is_the_mean_over_the_texts_that_have_it(store, by_both, weighing):
    of_way = by_both[by_both["weighing"] == weighing]
    rows = _with_zeros(of_way)
    assert of_way["comma_period"].isna().any(), "every text has a comma: this test shows less"
    expected = rows.groupby(["layer", "head"])[list(QUANTITIES)].agg(["mean", "count"])
    n_rows = 0
    every: Any = expected.iterrows()
    for (layer, head), row in every:
        of_head = head_pattern.of_head(store, layer=layer, head=head, weighing=weighing)
        there = [name for name in QUANTITIES if row[name]["count"]]
        assert of_head["quantity"].tolist() == there
        np.testing.assert_allclose(of_head["mean"], [row[q]["mean"] for q in there], rtol=1e-5)
        assert of_head["n_sequences"].tolist() == [row[q]["count"] for q in there]
        ordered = of_head[["low", "mean", "high"]].dropna().to_numpy()
        assert (np.diff(ordered) >= -1e-9).all()
        n_rows += len(of_head)
    assert len(head_pattern.heads(store, weighing=weighing)) == n_rows


@every_weighing
def test_every_layer_is_the_mean_of_its_heads(store, by_both, weighing):
    of_layers = head_pattern.by_layer(store, weighing=weighing)
    rows = _with_zeros(by_both[by_both["weighing"] == weighing])
    expected = rows.groupby("layer")[list(QUANTITIES)].mean().stack().dropna().to_dict()
    found = of_layers.set_index(["layer", "quantity"])["mean"].to_dict()
    assert found == pytest.approx(expected, rel=1e-5)
    sure = of_layers.dropna(subset=["low", "high"])
    assert (sure["low"] <= sure["high"]).all()


def test_differences_are_paired_text_by_text(store, by_both, finished):
    wide = _with_zeros(by_both).set_index(["weighing", "seq", "layer", "head"])[list(HABITS)]
    change = wide.loc["norm"] - wide.loc["weight"]
    rows = head_pattern_difference.differences(store)
    assert len(rows) == change.groupby(["layer", "head"]).mean().notna().to_numpy().sum()
    n = len(finished[1].corpus)
    draws = redraws(np.arange(n), seed=finished[0].seed).weights
    row: Any
    for row in rows.itertuples():
        of_cell = change.xs((row.layer, row.head), level=("layer", "head"))[row.quantity]
        there = of_cell.notna().to_numpy()
        values = of_cell.to_numpy()[there]
        assert row.difference == pytest.approx(values.mean(), abs=2e-6)
        assert row.difference == pytest.approx(row.norm - row.weight, abs=1e-6)
        assert row.n_sequences == there.sum()
        count = draws[:, there].sum(axis=1)
        means = (draws[:, there] @ values)[count > 0] / count[count > 0]
        ends = np.quantile(means, [0.025, 0.975]) if there.sum() >= 10 else [np.nan] * 2
        assert [row.low, row.high] == pytest.approx(ends, abs=2e-6, nan_ok=True)
    of_layers = store.execute("from head_pattern_difference where head is null").df()
    expected = change.groupby("layer").mean()
    assert len(of_layers) == expected.notna().to_numpy().sum()
    for row in of_layers.itertuples():
        assert row.difference == pytest.approx(expected.loc[row.layer, row.quantity], abs=2e-6)


def test_what_a_text_cannot_have_is_absent(store, tiny, is_causal):
    there = set(head_pattern.by_layer(store)["quantity"])
    assert ("next" in there) == (not is_causal)
    kinds = {name for (name,) in store.execute("select distinct token_type from token").fetchall()}
    assert {"cls", "sep", "comma_period"} & there == {"cls", "sep", "comma_period"} & kinds
    assert ("first" in there) == ("first" in kinds) == is_causal


def test_the_texts_in_which_a_head_does_something_most_come_first(store, slow):
    rows = sequence_head_pattern.extremes(store, layer=2, head=1, quantity="previous", limit=2)
    of_head = slow[(slow["layer"] == 2) & (slow["head"] == 1)].nlargest(2, "previous")
    assert rows["seq"].tolist() == of_head["seq"].tolist()
    np.testing.assert_allclose(rows["value"], of_head["previous"], rtol=1e-5)
    texts = dict(store.execute("select seq, text from sequence").fetchall())
    assert rows["text"].tolist() == [texts[seq] for seq in rows["seq"]]
    with pytest.raises(UnknownName, match=r"No habit is called 'nxt'. Did you mean 'next'?"):
        sequence_head_pattern.extremes(store, layer=1, head=1, quantity="nxt", limit=1)


@pytest.mark.parametrize("habit", ["comma_period", "first"])
def test_weights_to_types_are_counted_alike_by_head_and_by_token(
    finished, tmp_path, is_causal, habit
):
    """The law between the tables can fail: a habit that is off by a hundredth is told."""
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(finished[0].output.read_bytes())
    (law,) = (query for text, query in CROSS_LAWS.items() if "weights to a token type" in text)
    with duckdb.connect(str(copy)) as connection:
        limit = {"tolerance": LIMITS["float32"]}
        assert connection.execute(law, limit).fetchall() == [(0,)]
        connection.execute(
            f"update stored.sequence_head_pattern set {habit} = {habit} + 0.01 "
            "where seq = 0 and layer = 1"
        )
        is_seen = habit != "first" or is_causal
        assert (connection.execute(law, limit).fetchall() > [(0,)]) == is_seen
