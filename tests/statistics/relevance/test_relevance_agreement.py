"""Agreement of rules and methods: of one sequence's maps, and in means over sequences."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.relevance_rules import ALL
from precompute.passes.relevance import SequenceRelevanceAgreement
from tests.intervals import assert_ordered
from tests.tracing import layers_of

three_ways = pytest.mark.parametrize(
    "family", ["bert", "gpt2", "vit"], indirect=True, scope="session"
)


@pytest.fixture
def filling(tiny, sequences) -> SequenceRelevanceAgreement:
    layers = layers_of(tiny, sequences, kept=frozenset({0}), classification=None)
    filling = SequenceRelevanceAgreement(layers[0].batch)
    for layer in layers:
        filling.add(layer)
    return filling


@three_ways
def test_every_two_maps_of_the_last_layer_agree_by_rank_over_content(filling, sequences, tiny):
    rows = filling.rows().to_pandas()
    last, n_rows = len(tiny.layers) - 1, 0
    for row, relevance in filling.relevance.maps.items():
        is_content = filling.batch.is_content[row]
        maps = {rule: values[is_content] for rule, values in relevance.mean_maps(last).items()}
        assert ("norm_rollout_layer" in maps) == (row == 0), "kept sequences alone have it"
        of_sequence = rows[rows["seq"] == sequences[row].index].set_index(["rule_a", "rule_b"])
        for place, first in enumerate(maps):
            for second in list(maps)[place + 1 :]:
                if min(np.ptp(maps[first]), np.ptp(maps[second])) > 0:
                    expected = spearmanr(maps[first], maps[second])[0]
                    spearman = of_sequence.loc[(first, second), "spearman"]
                    assert spearman == pytest.approx(expected, abs=1e-6)
                    n_rows += 1
    assert n_rows == len(rows) > 0
    for row, relevance in filling.relevance.maps.items():
        special = ~filling.batch.is_content[row]
        relevance.maps[:, special] = np.random.default_rng(0).random((1, int(special.sum())))
    assert filling.rows().to_pandas().equals(rows), "special tokens are not compared"


def test_means_are_over_the_sequences_and_the_same_in_either_order(curves_store):
    rows = curves_store.sql("from relevance_agreement").df()
    agreement = rows.set_index(["rule_a", "rule_b"])
    same = rows[rows["rule_a"] == rows["rule_b"]]
    assert set(same["rule_a"]) == set(ALL)
    assert (same["mean"] == 1).all()
    rows = curves_store.execute("from sequence_relevance_agreement").df()
    for (first, second), group in rows.groupby(["rule_a", "rule_b"], observed=True):
        for place in ((first, second), (second, first)):
            row = agreement.loc[place]
            assert row["mean"] == pytest.approx(group["spearman"].mean(), abs=1e-6)
            assert_ordered(row["low"], row["mean"], row["high"])
            assert row["n_sequences"] == len(group) == 5
    assert len(agreement) == len(ALL) ** 2
