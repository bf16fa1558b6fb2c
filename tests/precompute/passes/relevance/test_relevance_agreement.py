"""Agreement of rules and methods, against the twin on every family, and as a fit makes means."""

import numpy as np
import pytest

from analysis.relevance_rules import ALL
from analysis.statistics.relevance import relevance_agreement
from precompute.passes.batch import Batch
from precompute.passes.relevance import sequence_relevance_agreement
from tests.intervals import assert_ordered
from tests.reference.relevance import relevance_agreement as twin
from tests.tiny import every_family

pytestmark = every_family


@pytest.fixture
def batch(tiny, sequences, traced) -> Batch:
    return Batch(sequences, traced, relevance_start=tiny.relevance_start, kept=frozenset({0}))


def test_every_two_maps_of_the_last_layer_agree_as_the_twin_says(batch, sequences):
    rows = sequence_relevance_agreement.totals(batch).to_pandas()
    last = len(batch.trace.layers) - 1
    n_rows = 0
    for sequence, relevance, is_content in zip(
        sequences, batch.relevance_maps, batch.is_content, strict=True
    ):
        assert relevance is not None
        maps = {
            rule: values[is_content].tolist() for rule, values in relevance.mean_maps(last).items()
        }
        of_sequence = rows[rows["seq"] == sequence.index].set_index(["rule_a", "rule_b"])
        for place, first in enumerate(maps):
            for second in list(maps)[place + 1 :]:
                expected = twin.spearman(maps[first], maps[second])
                if expected is not None:
                    spearman = of_sequence.loc[first, second]["spearman"]
                    assert spearman == pytest.approx(expected, abs=1e-6)
                    n_rows += 1
    assert n_rows == len(rows) > 0


def test_whole_layers_are_rolled_out_where_maps_are_kept_alone(batch):
    last = len(batch.trace.layers) - 1
    rolled_out = ["norm_rollout_layer" in maps.mean_maps(last) for maps in batch.relevance_maps]
    assert rolled_out == [True, False, False, False]


def test_special_tokens_are_not_compared(batch):
    """All that [CLS] and its like have, whatever a rule gives them, could be anything."""
    before = sequence_relevance_agreement.totals(batch)
    for relevance, is_content in zip(batch.relevance_maps, batch.is_content, strict=True):
        assert relevance is not None
        relevance.maps[:, ~is_content] = np.random.default_rng(0).random(
            (len(relevance.maps), int((~is_content).sum()))
        )
    assert sequence_relevance_agreement.totals(batch).equals(before)


def test_means_are_over_the_sequences_and_the_same_in_either_order(curves_store):
    agreement = relevance_agreement.agreement(curves_store).set_index(["rule_a", "rule_b"])
    rows = curves_store.execute("from sequence_relevance_agreement").df()
    for (first, second), group in rows.groupby(["rule_a", "rule_b"], observed=True):
        for place in ((first, second), (second, first)):
            row = agreement.loc[place]
            assert row["mean"] == pytest.approx(group["spearman"].mean(), abs=1e-6)
            assert_ordered(row["low"], row["mean"], row["high"])
            assert row["n_sequences"] == len(group) == 5
    assert len(agreement) == len(ALL) ** 2


def test_every_rule_agrees_with_itself(curves_store):
    rows = relevance_agreement.agreement(curves_store)
    same = rows[rows["rule_a"] == rows["rule_b"]]
    assert same["rule_a"].tolist() == list(ALL)
    assert (same["mean"] == 1).all()
    assert_ordered(same["low"], same["mean"], same["high"])
    assert rows["rule_a"].drop_duplicates().tolist() == list(ALL)
