"""The paper's numbers stand next to the file's, and are compared only for the same experiment."""

import pandas as pd

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from analysis.published.numbers import N_SEQUENCES, N_TOKENS
from pages.head_habits.breadth import entropy_cls
from pages.head_habits.layers import neighbours

BERT = (
    "update stored.run set model = 'bert-base-uncased', n_layers = 12, n_heads = 12, "
    f"hidden_size = 768, n_sequences = {N_SEQUENCES}, n_tokens = {N_TOKENS}, mask_rate = 0"
)
ZERO = "update stored.provenance set value = '0' where name = 'segments_given'"
PLACES = [("breadth", {}, ["3.89"]), ("layers", {"hh_group": "neighbours"}, ["4", "5"])]


def published(session) -> pd.DataFrame:
    [table] = [frame.value for frame in session.dataframe if "published" in frame.value]
    return table


def test_the_same_experiment_is_compared(section, changed):
    folder = changed(BERT, ZERO)
    for view, choices, _ in PLACES:
        session = section(view, folder, **choices)
        assert not [fold for fold in session.expander if "bert-base-uncased" in fold.label]
        assert "difference" in published(session)


def test_other_segment_ids_are_another_experiment(section, changed):
    [place] = [
        fold for fold in section("breadth", changed(BERT)).expander if "segment ids" in fold.label
    ]
    text = place.markdown[0].value
    assert "no token masked, every segment id 0." in text
    assert "no token masked, segment ids 0, 1: another experiment" in text


def test_ours_are_the_last_layer_and_the_heads_above_a_half():
    layers = pd.DataFrame({"layer": [11, 12], "habit": "entropy_cls", "mean": [1.0, 3.891]})
    row = entropy_cls(layers)
    assert (row.published, row.ours, row.agrees) == (ENTROPY_CLS, 3.891, True)
    heads = pd.DataFrame(
        {"habit": ["previous"] * 5 + ["next"], "mean": [0.6, 0.7, 0.8, 0.9, 0.5, 0.4]}
    )
    rows = neighbours(heads)
    assert [row.published for row in rows] == list(NEIGHBOURS)
    assert [row.ours for row in rows] == [4, 0]
    assert [row.agrees for row in rows] == [True, False]


def test_what_a_model_lacks_is_left_open():
    nothing = pd.DataFrame({"layer": [], "habit": [], "mean": []})
    assert [row.ours for row in [entropy_cls(nothing), *neighbours(nothing)]] == [None] * 3
