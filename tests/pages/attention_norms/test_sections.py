"""Every section shows the numbers that the file holds."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.statistics.norms import attention_norm_histogram, attention_norm_sample
from pages.attention_norms.pair_panels import edges
from tests.pages.conftest import charts, frames


def test_only_the_chosen_section_is_drawn(section):
    session = section("frequency")
    assert len(session.header) == len(charts(session)) == len(frames(session)) == 1


def test_shares_of_the_norm_add_up_to_1_in_every_layer(section):
    shown = frames(section("layers"))[0]
    assert shown.groupby("layer")["norm_share"].sum().tolist() == pytest.approx([1.0, 1.0])


def test_the_card_tells_what_the_file_says_of_the_head(section, answers):
    session = section("heads", head="2-3")
    ((mean, std, cv),) = answers(
        "select mean, std, cv from value_norm_dispersion where layer = 2 and head = 3"
    )
    ((largest,),) = answers("select max(value) from singular_value where layer = 2 and head = 3")
    values = [metric.value for metric in session.metric]
    assert values[:3] == [f"{mean:.2f} ± {std:.2f}", f"{cv:.2f}", f"{largest:.2f}"]


def test_density_cells_hold_every_pair_of_every_type(section, answers, store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
        cells = attention_norm_histogram.densities(store, layer=None, head=None)
    pairs = dict(
        answers("select token_type, n from attention_norm_correlation where layer is null")
    )
    assert cells.groupby("token_type")["n"].sum().to_dict() == pairs
    (panels, *_) = charts(section("relation"))
    assert len(panels["concat"]) == len(pairs)


def test_cells_of_the_density_have_the_edges_of_their_values():
    values = np.array([2.0**-24, 0.1, 0.75, 0.999], dtype=np.float32)
    bins = pd.Series(values.view(np.int32) >> 22)
    low, high = edges(bins, 22), edges(bins + 1, 22)
    assert (low <= values).all()
    assert (values < high).all()
    assert (high / low).max() <= 1.5


def test_every_pair_of_the_sample_lies_in_a_cell_of_the_density(store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
        cells = attention_norm_histogram.densities(store, layer=None, head=None)
        pairs = attention_norm_sample.scatter(store, layer=None, head=None, limit=1000)
    drawn = {tuple(row) for row in cells[["token_type", "attention_bin", "norm_bin"]].to_numpy()}
    bits = pairs[["attention", "value_norm"]].to_numpy(np.float32).view(np.int32)
    lowest, highest = np.float32(2**-24).view(np.int32), np.float32(1).view(np.int32) - 1
    alpha, norm = np.clip(bits[:, 0], lowest, highest) >> 22, bits[:, 1] >> 21
    assert set(zip(pairs["token_type"], alpha, norm, strict=True)) <= drawn


def test_the_tables_of_dispersion_name_the_extreme_heads(section, answers):
    heads, inputs, *_ = frames(section("dispersion"))
    (largest, smallest) = answers(
        "select max(cv), min(cv) from value_norm_dispersion where layer is not null "
        "union all select max(cv), min(cv) from input_norm_dispersion where layer is not null"
    )
    assert heads["cv"].tolist()[:2] == pytest.approx(list(largest))
    assert inputs["cv"].tolist()[:2] == pytest.approx(list(smallest))
    assert not heads["which_heads"].str.contains("nan|\\.0").any()
