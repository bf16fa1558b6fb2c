import pandas as pd
import pytest
from scipy.stats import spearmanr

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.scopes import BIAS_READINGS, POST_NORM
from analysis.statistics.fit import FitContext
from analysis.statistics.mixing import bias_reading
from analysis.statistics.pairs import pair_delta
from precompute.passes.batch import Batch
from precompute.passes.mixing import bias_reading as the_pass
from precompute.passes.mixing import bias_reading_pair, sequence_bias_reading
from tests.tracing import rows_of_table


def test_each_reading_is_measured_behind_the_network(sequences, traced, traced_alone):
    batch = Batch(sequences, traced, followed=frozenset({0}))
    rows = sequence_bias_reading.totals(batch).to_pandas().set_index(["layer", "reading"])
    order, (seen, *_) = batch.order, batch.pairs[0]
    before, after = (order.scopes.index(scope) for scope in order.effects["ff"])
    for index, layer in enumerate(traced_alone[0].layers):
        for reading in BIAS_READINGS:
            mixing = layer_mixing(layer, bias_reading=reading)
            maps = mixing.maps.numpy()
            expected = spearmanr(maps[before][seen], maps[after][seen])[0]
            row = rows.loc[(index, reading)]
            assert row["similarity"] == pytest.approx(expected, abs=1e-6)
            assert row["mixing_ratio"] == pytest.approx(mixing.ratios[after].mean().item())
            assert row["relative_error"] < 1e-6


def test_the_first_reading_is_that_of_all_other_numbers(masked_store, layer_order):
    before, after = layer_order.effects["ff"]
    rows = bias_reading.by_layer(masked_store)
    ours = rows[rows["reading"] == BIAS_READINGS[0]].set_index("layer")["similarity"]
    similarities = masked_store.execute(
        "select layer, spearman from scope_similarity where scope_a = $before and scope_b = $after "
        "and layer is not null",
        {"before": before, "after": after},
    ).fetchall()
    assert {layer: ours[layer] for layer, _ in similarities} == pytest.approx(dict(similarities))


def test_pairs_that_stay_among_the_first_are_counted(masked_store):
    pairs = masked_store.execute("from bias_reading_pair").df()
    rows = bias_reading.by_layer(masked_store)
    assert set(rows["reading"]) == set(BIAS_READINGS)
    for layer, group in pairs.groupby("layer"):
        for reading in BIAS_READINGS:
            row = rows[(rows["layer"] == layer) & (rows["reading"] == reading)].iloc[0]
            for column, downwards in (("same_amplified", True), ("same_attenuated", False)):
                first = [
                    group.sort_values(
                        [ranked_by, "source", "target"], ascending=[not downwards, True, True]
                    )[:10][["source", "target"]]
                    for ranked_by in (BIAS_READINGS[0], reading)
                ]
                same = len(first[0].merge(first[1]))
                assert len(group) >= 10, "the corpus has pairs enough"
                assert row[column] == same


def test_where_too_few_pairs_are_left_none_are_counted(masked_store, monkeypatch):
    monkeypatch.setattr(the_pass, "TOP", 10**6)
    masked_store.execute(
        "create or replace temp table blocks as select seq, seq as block from sequence"
    )
    rows = the_pass.fit(
        masked_store, FitContext(seed=0, order=POST_NORM, frequency_ranks={})
    ).to_pandas()
    assert rows["similarity"].notna().all()
    assert rows[["same_amplified", "same_attenuated"]].isna().all(axis=None)


def test_what_stays_over_all_layers_is_the_mean_of_the_layers(masked_store):
    rows = masked_store.execute("from bias_reading").df()
    columns = ["same_amplified", "same_attenuated"]
    of_layers = rows[rows["layer"].notna()].groupby("reading")[columns].mean()
    overall = rows[rows["layer"].isna()].set_index("reading")[columns]
    pd.testing.assert_frame_equal(overall.sort_index(), of_layers)


def test_pairs_under_the_first_reading_are_those_of_all_other_numbers(tiny, sequences, traced):
    batch = Batch(sequences, traced, followed=frozenset({0}))
    found = bias_reading_pair.totals(batch).to_pandas()
    every = rows_of_table(pair_delta.TABLE, tiny, sequences).to_pandas()
    expected = every[every["seq"] == 0].reset_index(drop=True)
    for mine, theirs in (("layer", "layer"), ("source", "source"), ("target", "target")):
        assert found[mine].tolist() == expected[theirs].tolist()
    assert found[BIAS_READINGS[0]].tolist() == pytest.approx(expected["ff"].tolist())


def test_pairs_that_occur_once_are_left_out(masked_store):
    counts = masked_store.execute("select min(n), count(*) from bias_reading_pair").fetchall()
    assert counts[0][0] == 2
