"""The numbers that files are compared by are those that the files hold."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pytest

from analysis.comparison.account import account
from analysis.comparison.differences import differences, own_numbers
from analysis.comparison.numbers import ALL_LAYERS, NUMBERS, by_unit, unit_values
from analysis.foreign_file import attach
from tests.shared_store import shared_store

WHOLE, WEIGHTS = "attn_res_ln_ff_res_ln", "attn_w"
STORED = {
    "ratio_whole": f"from mixing_ratio where scope = '{WHOLE}' and token_type = 'all'",
    "ratio_weights": f"from mixing_ratio where scope = '{WEIGHTS}' and token_type = 'all'",
    "similarity_whole": "select layer, spearman as mean from scope_similarity "
    f"where scope_a = '{WEIGHTS}' and scope_b = '{WHOLE}'",
    "cls_weight": "from head_pattern_interval where head is null and quantity = 'cls'",
    "previous": "from head_pattern_interval where head is null and quantity = 'previous'",
    "sink_rate": "from sink_rate where place = 'first' and quantity = 'attention' "
    "and abs(threshold - 0.3) < 1e-6",
    "sink_weight": "from sink where head is null and place = 'first' and quantity = 'attention'",
    "sink_norm": "from sink where head is null and place = 'first' and quantity = 'norm_share'",
    "offset_agreement": "select layer, agreement as mean from offset_agreement "
    "where counting = 'sum' and min_dependence = 0",
}
"""By number where the file has its mean in every layer."""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = shared_store(tmp_path_factory, annotated=True)
    with duckdb.connect(":memory:") as opened:
        attach(opened, str(path.resolve()))
        yield opened


def test_means_by_layer_are_those_that_the_file_holds(store):
    means = own_numbers(unit_values(store), seed=0).set_index(["number", "layer"])["mean"]
    for number, query in STORED.items():
        stored = store.execute(f"select layer, mean from ({query}) where layer is not null").df()
        assert len(stored) == 2
        for row in stored.itertuples():
            assert means[number, row.layer] == pytest.approx(row.mean, abs=1e-6), number


def test_the_number_of_a_file_is_the_mean_over_its_sequences_and_their_layers(store):
    rows = unit_values(store)
    of_decoders = {"first_weight", "first_norm"}
    assert set(rows["number"]) == set(NUMBERS) - of_decoders
    ratios = rows[rows["number"] == "ratio_whole"]
    means = own_numbers(rows, seed=0).set_index(["number", "layer"])
    slow = np.mean([part["value"].mean() for _, part in ratios.groupby("unit")])
    assert means.loc[("ratio_whole", ALL_LAYERS), "mean"] == pytest.approx(slow)
    assert by_unit(ratios).shape == (ratios["unit"].nunique(), 1 + ratios["layer"].nunique())


def test_shares_add_up_and_differences_stand_in_the_order_of_the_numbers(store):
    side, key = (account(store), unit_values(store)), ["number", "layer"]
    own = own_numbers(side[1], seed=0)
    assert differences(side, side, seed=0)[key].equals(own[key])
    shares = own.set_index(["layer", "number"])["mean"]
    for weighing in ("weight", "norm"):
        parts = [shares[ALL_LAYERS, f"{name}_{weighing}"] for name in ("cls", "sep", "rest")]
        assert sum(parts) == pytest.approx(1)


def test_correlation_is_that_of_each_head_and_text(store):
    frame = store.execute(
        "select head, attention_received, value_norm from head_token "
        "where seq = 1 and layer = 2 and token_type in ('other', 'comma_period')"
    ).df()
    slow = [
        np.corrcoef(np.log(part["attention_received"]), np.log(part["value_norm"]))[0, 1]
        for _, part in frame.groupby("head")
    ]
    rows = unit_values(store).set_index(["number", "unit", "layer"])["value"]
    assert rows["correlation", 1, 2] == pytest.approx(np.mean(slow), rel=1e-4)
