"""Best heads for antecedents, beside every rule."""

import pandas as pd
import pytest

from analysis.statistics.probing.accuracy import (
    BASELINES,
    COREFERENCE_ACCURACY,
    COREFERENCE_BEST,
    COREFERENCE_DIFFERENCE,
)
from tests.statistics.fits import made, store_of


def test_the_best_head_of_all_has_the_highest_accuracy_and_stands_beside_every_rule(probing_store):
    accuracies = probing_store.execute(
        "from coreference_accuracy_weighing order by layer, head"
    ).df()
    best = probing_store.execute("from coreference_best_weighing where chosen_on = 'all'").df()
    assert set(best["baseline"]) == set(BASELINES)
    for row in best.itertuples():
        of_type = accuracies[accuracies["mention_type"] == row.mention_type]
        is_way = (of_type["weighing"] == row.weighing) & (of_type["merging"] == row.merging)
        heads = of_type[is_way & (of_type["method"] == "head")]
        top = heads.loc[heads["accuracy"].idxmax()]
        assert (row.layer, row.head, row.n) == (top["layer"], top["head"], top["n"])
        assert row.n_tried == len(heads)
        [rule] = of_type.loc[of_type["method"] == row.baseline, "accuracy"]
        found = (row.accuracy, row.accuracy_chosen, row.baseline_accuracy, row.difference)
        expected = (top["accuracy"], top["accuracy"], rule, top["accuracy"] - rule)
        assert found == pytest.approx(expected)


def test_texts_without_mentions_have_no_accuracy(probing_store):
    nothing = probing_store.sql("from coreference_prediction_weighing limit 0").to_arrow_table()
    mentions = pd.DataFrame({"seq": [0], "mention": [0], "mention_type": ["pronoun"]})
    with store_of(coreference_prediction_weighing=nothing, mention=mentions) as store:
        for table in (
            COREFERENCE_ACCURACY,
            COREFERENCE_BEST,
            COREFERENCE_DIFFERENCE,
        ):
            assert made(table, store).empty
