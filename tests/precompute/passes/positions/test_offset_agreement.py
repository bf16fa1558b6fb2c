"""Groups of heads, preferred offsets, and agreement of scores and attention."""

import numpy as np
import pytest

from analysis.statistics.positions import (
    head_offset,
    query_key_correlation,
    relative_position_cluster,
)
from analysis.statistics.positions import head_offset as offset_agreement
from analysis.statistics.positions import relative_position_cluster as relative_position_centre
from analysis.statistics.positions.head_offset import COUNTINGS, MIN_DEPENDENCES
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.precompute.passes.positions.test_relative_positions import HEAD_PLACES, maps, rows
from tests.reference.positions import head_offset as reference_offset
from tests.reference.positions import offset_agreement as reference_agreement
from tests.reference.positions import relative_position_profile as reference
from tests.tiny import HEADS


def test_clusters_share_all_texts_of_every_head(position_store, position_traces):
    explained = relative_position_centre.explained(position_store)
    assert explained["k"].tolist() == list(range(2, 13))
    assert (np.diff(explained["explained"]) > 0).all()
    for k in (2, 6, 12):
        centres = relative_position_centre.centres(position_store, k=k)
        assert centres["cluster"].nunique() == k
        sizes = centres.groupby("cluster")["n"].first()
        assert sizes.sum() == len(position_traces) * len(HEAD_PLACES)
        peaks = centres.groupby("cluster", sort=False)["attention"].max()
        assert (np.diff(peaks) <= 0).all()
        shares = relative_position_cluster.shares(position_store, k=k)
        by_head = shares.groupby(["layer", "head"])["share"].sum()
        assert len(by_head) == len(HEAD_PLACES)
        np.testing.assert_allclose(by_head, 1)
        of_cluster = shares.groupby("cluster")["share"].sum() * len(position_traces)
        np.testing.assert_allclose(of_cluster, sizes[of_cluster.index])
    six = relative_position_cluster.shares(position_store, k=6)
    assert len(six) == len(position_store.execute("from relative_position_cluster").df())


def test_heads_prefer_what_is_largest_on_average(position_store, position_traces, is_causal):
    heads = head_offset.heads(position_store)
    assert list(zip(heads["layer"] - 1, heads["head"] - 1, strict=True)) == HEAD_PLACES
    for row in rows(heads):
        means = query_key_correlation.of_head(position_store, layer=row.layer, head=row.head)
        near = means[means["offset"].abs() <= 10]
        for offset, quantity in (
            (row.attention_offset, "attention"),
            (row.score_offset, "value"),
            (row.attention_offset_per_pair, "attention_per_pair"),
            (row.score_offset_per_pair, "value_per_pair"),
            (row.score_offset_centred, "value_centred"),
        ):
            expected = reference_offset.preferred_offset(near[quantity], near["offset"])
            assert offset == expected
            assert offset <= 0 or not is_causal
        dependences = [
            reference.position_dependence(matrix, is_causal=is_causal)
            for matrix in maps(position_traces, row.layer - 1, row.head - 1)
        ]
        assert row.dependence == pytest.approx(
            np.mean([dependence for dependence in dependences if dependence is not None]), rel=1e-4
        )


def test_agreement_is_counted_over_the_heads_that_depend_enough(position_store):
    heads = head_offset.heads(position_store)
    for counting, columns in COUNTINGS.items():
        for least in MIN_DEPENDENCES:
            agreement = offset_agreement.agreement(
                position_store, counting=counting, min_dependence=least
            )
            chosen = heads[heads["dependence"] >= least].dropna(subset=list(columns))
            groups = {layer: of for layer, of in chosen.groupby("layer") if len(of) >= 2}
            assert agreement["layer"].dropna().tolist() == list(groups)
            everywhere = len(chosen) >= 2
            assert agreement["layer"].isna().sum() == everywhere
            for row, of in zip(
                rows(agreement), [*groups.values(), *[chosen] * everywhere], strict=True
            ):
                sides = [of[name].tolist() for name in columns]
                assert row.n_heads == len(of)
                assert row.agreement == pytest.approx(reference_agreement.agreement(*sides))
                assert row.chance == pytest.approx(reference_agreement.chance(*sides))
                expected = reference_agreement.spearman(*sides)
                if expected is None:
                    assert np.isnan(row.spearman)
                else:
                    assert row.spearman == pytest.approx(expected)


def test_one_text_of_one_layer_is_enough(one_layer_run, one_layer_store):
    store = one_layer_store
    assert len(head_offset.heads(store)) == HEADS
    agreement = offset_agreement.agreement(store, counting="sum", min_dependence=0.0)
    assert agreement["n_heads"].tolist() == [HEADS, HEADS]
    assert relative_position_centre.explained(store)["k"].tolist() == [2, 3]
    assert len(relative_position_cluster.shares(store, k=3)) == HEADS
    assert store.execute("select count(*) from relative_position_cluster").fetchall() == [(0,)]
    assert list(faults(one_layer_run[0].output, every_table())) == []
