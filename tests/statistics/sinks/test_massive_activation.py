"""Largest coordinates of hidden states: a planted one, their laws, and means by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import sinks
from tests.massive import COORDINATE, SIZE, massive_model
from tests.statistics.fits import made, store_of
from tests.tiny import tiny_sequences
from tests.tracing import rows_of_table


def test_a_planted_activation_is_found_where_it_was_put():
    model, sequences = massive_model("gpt2", "first"), tiny_sequences("gpt2")[:1]
    rows = rows_of_table(sinks.SEQUENCE_MASSIVE_ACTIVATION, model, sequences).to_pandas()
    read = rows[rows["depth"] < len(model.layers)].set_index("place")
    every, first = read.loc["all"], read.loc["first"]
    assert every["largest"].tolist() == pytest.approx([SIZE] * len(every), rel=0.01)
    assert set(every["pos"]) == {1}
    assert set(every["coordinate"]) == {COORDINATE}
    assert (first["largest"] < SIZE / 100).all()
    assert (every["largest"] > 1000 * every["median"]).all()


@pytest.fixture(scope="module")
def store():
    """Three texts at one depth: two of them massive, in two coordinates; one without a median."""
    columns = ["seq", "largest", "median", "coordinate"]
    rows = [(0, 2000.0, 1.0, 4), (1, 3000.0, 1.5, 4), (2, 50.0, 0.0, 1)]
    frame = pd.DataFrame(rows, columns=columns).assign(depth=1, place="cls")
    ratio = frame["largest"] / frame["median"].replace(0, np.nan)
    with store_of(sequence_massive_activation=frame.assign(ratio=ratio)) as opened:
        yield opened


def test_means_and_the_share_of_massive_texts(store):
    means = made(sinks.MASSIVE_ACTIVATION, store).set_index("quantity")
    found = means[["mean", "n_sequences"]].T.to_dict("list")
    assert found["largest"] == pytest.approx([5050 / 3, 3])
    assert found["ratio"] == [2000, 2], "none where the median is 0"
    assert found["massive"] == pytest.approx([2 / 3, 3])


def test_coordinates_have_their_share_of_texts_and_mean_size(store):
    rows = made(sinks.MASSIVE_COORDINATE, store).set_index(["coordinate", "quantity"])
    found = rows[["mean", "n_sequences"]].T.to_dict("list")
    assert found[4, "share"] == pytest.approx([2 / 3, 3])
    assert found[4, "largest"] == [2500, 2], "of the texts whose largest it is"
    assert found[1, "share"] == pytest.approx([1 / 3, 3])
    assert found[1, "largest"] == [50, 1]
