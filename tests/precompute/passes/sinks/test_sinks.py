"""Attention sinks in a store built by the real passes, against the twins, text by text."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.error_limits import LIMITS
from analysis.measures.bootstrap import redraws
from analysis.sinks import MASSIVE, MASSIVE_RATIO, RATED, SCORES, THRESHOLDS, WEIGHTS
from analysis.statistics.sinks import sequence_sink, sink, sink_rate
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.run import Request, run
from precompute.store.cross_laws import CROSS_LAWS
from tests.analysis.measures.sinks.places import seen_by
from tests.reference.sinks import sequence_massive_activation as activations
from tests.reference.sinks import sequence_sink as twin
from tests.reference.sinks.sequence_sink import place_tokens
from tests.reference.transformed_vectors import norm, vectors
from tests.small_store import TEXT
from tests.small_store import request as asked_for
from tests.tiny import every_family

STATISTICS = ["sink", "sink_rate", "sink_score", "massive_activation", "massive_coordinate"]
STATISTICS += ["head_token", "token_norm"]
PLACE = ["seq", "layer", "head", "place"]
pytestmark = every_family


@pytest.fixture(scope="module")
def finished(tmp_path_factory, family) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp(f"sinks-{family}")
    asked = asked_for(folder, family, statistics=STATISTICS)
    corpus = Path(str(asked.corpus))
    if corpus.suffix == ".txt":  # intervals need ten, one of them without a period
        texts = [TEXT] * 4 + ["The dog sat\n"]
        corpus.write_text("\n".join(texts), encoding="utf-8")
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def traces(finished) -> list[tuple[Any, list[str], Any]]:
    """The number of every sequence, the types of its tokens and its layers, without padding."""
    asked, plan = finished
    model = load_model(asked.model, device="cpu")
    return [
        (sequence.index, list(sequence.named_types), model.trace([sequence]).layers)
        for sequence in plan.corpus
    ]


@pytest.fixture(scope="module")
def slow(traces) -> pd.DataFrame:
    """Attention of each head to each place of every text, by the twin."""
    rows = []
    for seq, types, layers in traces:
        for layer, traced in enumerate(layers, start=1):
            weights = traced.weights
            seen = seen_by(len(types), is_causal=weights.is_causal)
            for head, attention in enumerate(traced.attention[0].double().tolist()):
                made = vectors(
                    traced.attention_input[0].double().tolist(),
                    weights.value_weight[head].double().tolist(),
                    weights.value_bias[head].double().tolist(),
                    weights.output_weight[head].double().tolist(),
                )
                lengths = [norm(vector) for vector in made]
                for place, tokens in place_tokens(types).items():
                    numbers = twin.of_place(attention, lengths, seen, tokens)
                    key = {"seq": seq, "layer": layer, "head": head + 1, "place": place}
                    rows.append(key | numbers)
    frame = pd.DataFrame(rows).astype(dict.fromkeys(WEIGHTS, float))
    return frame.sort_values(PLACE, ignore_index=True)


def test_every_text_has_the_weights_of_the_twin(store, slow):
    rows = store.execute("select * replace (place::varchar as place) from sequence_sink").df()
    rows = rows.sort_values(PLACE, ignore_index=True)
    assert rows[PLACE].equals(slow[PLACE].astype(rows.dtypes[PLACE]))
    for name in WEIGHTS:
        np.testing.assert_allclose(
            rows[name].astype(float), slow[name], rtol=2e-4, atol=1e-5, err_msg=name
        )


def test_every_head_and_layer_is_the_mean_over_the_texts_that_have_the_place(store, slow, family):
    long = slow.melt(PLACE, list(WEIGHTS), "quantity", "mean").dropna()
    of_heads = long.groupby(["layer", "head", "place", "quantity"])["mean"]
    stored = store.execute("from sink where head is not null").df()
    cells = stored.set_index(["layer", "head", "place", "quantity"])
    assert len(cells) == of_heads.ngroups
    assert cells["mean"].to_dict() == pytest.approx(of_heads.mean().to_dict(), rel=2e-4, abs=1e-5)
    assert cells["n_sequences"].to_dict() == of_heads.size().to_dict()
    of_layers = sink.by_layer(store).set_index(["layer", "place", "quantity"])["mean"]
    by_text = long.groupby(["seq", "layer", "place", "quantity"])["mean"].mean()
    expected = by_text.groupby(["layer", "place", "quantity"]).mean()
    assert of_layers.to_dict() == pytest.approx(expected.to_dict(), rel=2e-4, abs=1e-5)
    assert set(sink.places(store)["place"]) == set(slow["place"])
    if family == "bert":
        assert stored["low"].notna().any(), "no interval was tested"
    ordered = stored[["low", "mean", "high"]].dropna().to_numpy()
    assert (np.diff(ordered) >= -1e-9).all()


def test_a_rate_is_the_share_of_heads_above_a_threshold_in_each_text(store, slow, finished):
    seqs = sorted(slow["seq"].unique())
    draws = redraws(np.array(seqs), seed=finished[0].seed).weights
    n_rows = 0
    for threshold in THRESHOLDS:
        above = slow.assign(**{name: slow[name] > threshold + 1e-6 for name in RATED})
        above = above.assign(**{name: above[name].where(slow[name].notna()) for name in RATED})
        by_text = above.groupby(["place", "seq"])[list(RATED)].mean().astype(float)
        for place in slow["place"].unique():
            rates = sink_rate.rates(store, place=place, threshold=threshold)
            n_rows += len(rates)
            of_all = rates[rates["layer"].isnull()].set_index("quantity")
            expected = by_text.loc[place]
            for name in map(str, of_all.index):
                values = expected[name].dropna()
                assert of_all.loc[name, "mean"] == pytest.approx(values.mean(), abs=1e-9)
                n_texts = len(values)
                if n_texts == len(seqs) and n_texts >= 10:
                    means = draws @ values.to_numpy() / len(seqs)
                    ends = np.quantile(means, [0.025, 0.975])
                    assert list(of_all.loc[name, ["low", "high"]]) == pytest.approx(ends)
    assert n_rows == store.execute("select count(*) from sink_rate").fetchall()[0][0]


def test_parts_of_scores_add_up_in_every_text_and_in_means(store):
    rows = store.execute("from sequence_sink_score").df()
    parts = rows[["norm", "direction", "bias"]].fillna(0).sum(axis=1)
    np.testing.assert_allclose(rows["excess"], parts, rtol=1e-3, atol=1e-4)
    assert rows["bias"].isna().all(), "these families turn no keys"
    assert rows["query_bias"].notna().all(), "their queries all have a bias"
    means = store.execute("from sink_score").df()
    assert set(means["quantity"]) == set(SCORES) - {"bias"}
    wide = means.pivot(index=["layer", "head", "place"], columns="quantity", values="mean")
    np.testing.assert_allclose(
        wide["excess"], wide["norm"] + wide["direction"], rtol=1e-3, atol=1e-4
    )


def test_a_place_whose_scores_are_above_gets_more_than_even_attention(store):
    """For one query with two keys, the excess is exactly the difference of log weights."""
    exact = store.execute("""
        select excess, attention from sequence_sink_score
        join sequence_sink using (seq, layer, head, place) join sequence using (seq)
        where n_tokens = 2 and place = 'first'
    """).df()
    if len(exact):
        given = 1 / (1 + np.exp(-exact["excess"]))
        assert (given.between(0, 1)).all()
    excess = store.execute("""
        select corr(excess, ln(attention / even)) from sequence_sink_score
        join sequence_sink using (seq, layer, head, place) where attention > 0 and place <> 'other'
    """).fetchall()[0][0]
    assert excess > 0.5


def test_largest_coordinates_are_those_of_the_twin(store, traces):
    rows = store.execute(
        "select * replace (place::varchar as place) from sequence_massive_activation"
    ).df()
    by_place = rows.set_index(["seq", "depth", "place"])
    n = 0
    for seq, types, layers in traces:
        states = [*(layer.input[0] for layer in layers), layers[-1].output[0]]
        for depth, state in enumerate(tensor.double().tolist() for tensor in states):
            middle = activations.median(state)
            places = {"all": list(range(len(types))), **place_tokens(types)}
            for place, tokens in places.items():
                size, pos, coordinate = activations.largest(state, tokens)
                row = by_place.loc[(seq, depth, place)]
                assert row["largest"] == pytest.approx(size, rel=1e-4)
                assert row["ratio"] == pytest.approx(size / middle, rel=1e-3)
                assert (row["pos"], row["coordinate"]) == (pos, coordinate)
                n += 1
    assert n == len(by_place)


def test_means_of_activations_and_how_often_one_coordinate_has_the_largest(store):
    rows = store.execute("from sequence_massive_activation").df()
    rows["massive"] = (rows["largest"] > MASSIVE) & (rows["ratio"] > MASSIVE_RATIO)
    means = store.execute("from massive_activation").df().set_index(["depth", "place", "quantity"])
    for (depth, place), cell in rows.groupby(["depth", "place"], observed=True):
        for name in ("largest", "ratio", "massive"):
            expected = cell[name].astype(float).mean()
            assert means.loc[(depth, place, name), "mean"] == pytest.approx(expected, rel=1e-5)
    kept = store.execute("from massive_coordinate").df()
    for row in kept.itertuples():
        of_cell = rows[(rows["depth"] == row.depth) & (rows["place"] == row.place)]
        hits = of_cell[of_cell["coordinate"] == row.coordinate]
        assert row.mean == pytest.approx(len(hits) / len(of_cell))
        assert row.largest == pytest.approx(hits["largest"].mean(), rel=1e-5)
        assert row.n_sequences == len(of_cell)
    most = rows.groupby(["depth", "place"], observed=True)["coordinate"].agg(
        lambda values: values.value_counts().max() / len(values)
    )
    best = kept.groupby(["depth", "place"], observed=True)["mean"].max()
    assert best.to_dict() == pytest.approx(most.to_dict())


def test_the_texts_with_most_and_with_least_come_first(store, slow):
    for weakest in (False, True):
        asked = {"place": "first", "layer": 2, "head": 1}
        rows = sequence_sink.extremes(store, **asked, weakest=weakest, limit=2)
        of_head = slow[(slow["layer"] == 2) & (slow["head"] == 1) & (slow["place"] == "first")]
        ordered = of_head.sort_values("attention", ascending=weakest)["attention"]
        np.testing.assert_allclose(rows["attention"], ordered[:2], rtol=2e-4)
        texts = dict(store.execute("select seq, text from sequence").fetchall())
        assert rows["text"].tolist() == [texts[seq] for seq in rows["seq"]]


@pytest.mark.parametrize(
    ("law", "fault"),
    [
        (
            "no place gets less from the queries that see it than its tokens receive from all",
            "update stored.sequence_sink set attention = attention - 0.01 where layer = 1",
        ),
        (
            "the norm of a place is that of its tokens",
            "update stored.sequence_sink set value_norm = value_norm * 1.1 where layer = 1",
        ),
        (
            "no coordinate is larger than its token is long",
            "update stored.sequence_massive_activation set largest = largest * 20",
        ),
    ],
)
def test_laws_between_tables_can_fail(finished, tmp_path, law, fault):
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(finished[0].output.read_bytes())
    limit = {"tolerance": LIMITS["float32"]}
    with duckdb.connect(str(copy)) as connection:
        assert connection.execute(CROSS_LAWS[law], limit).fetchall() == [(0,)]
        connection.execute(fault)
        assert connection.execute(CROSS_LAWS[law], limit).fetchall() > [(0,)]
