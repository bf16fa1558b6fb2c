"""The paper's numbers stand next to the file's, and are compared only for the same model."""

import numpy as np
import pandas as pd
import pytest

from analysis.published.numbers import EXPERIMENTS
from analysis.published.positions import NUMBERS, OFFSETS, SHIFT
from pages.positions.claim import published_offsets

ROBERTA = (
    "update stored.run set model = 'roberta-base', n_layers = 12, n_heads = 12, hidden_size = 768"
)


def published(session) -> pd.DataFrame:
    [table] = [frame.value for frame in session.dataframe if "published" in frame.value]
    return table


def test_the_same_model_is_compared_whatever_the_texts(section, changed):
    session = section("embeddings", changed(ROBERTA))
    assert not [fold for fold in session.expander if "roberta-base" in fold.label]
    assert "difference" in published(session)
    assert any("0 of 3 values" in caption.value for caption in session.caption)


HEADS = pd.DataFrame({"layer": [1, 8], "head": [1, 9], "score_offset": [-2, 3]})


def test_a_shift_is_told_of_the_highest_wave():
    phases = pd.DataFrame(
        {"phase": [0.5, -np.pi / 4, 1.0], "frequency": [0.0, 64.0, 8.0], "amplitude": [99, 3, 2]}
    )
    rows = published_offsets(HEADS, phases)
    assert [row.published for row in rows] == [*OFFSETS, SHIFT]
    assert [row.ours for row in rows] == [-2, 3, pytest.approx(-1)]
    assert [row.agrees for row in rows] == [True, False, True]


def test_a_head_that_the_model_lacks_is_left_open():
    rows = published_offsets(
        HEADS.iloc[:1], pd.DataFrame({"phase": [], "frequency": [], "amplitude": []})
    )
    assert [row.ours for row in rows] == [-2, None, None]


def test_every_number_is_of_an_experiment():
    assert all(number.experiment in EXPERIMENTS for number in NUMBERS)
